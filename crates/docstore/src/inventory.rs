/// Numbers of rows of the main tables.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Contents {
    pub organizations: i64,
    pub documents: i64,
    pub captures: i64,
    pub files: i64,
}
