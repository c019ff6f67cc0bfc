//! The table of operations, one file for each group.
//!
//! A group lists its marker types with `group!` and implements [`crate::Operation`] for each. A listed type without an
//! implementation does not compile, nor does an implementation for a type that is not listed.

use crate::Spec;

/// Declares the operations of one file: their marker types, and the constructs that visit all of them.
macro_rules! group {
    ($($(#[$meta:meta])* $name:ident,)+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl $crate::operation::Listed for $name {}

            const _: () = assert!(
                $crate::operation::placeholders_match(
                    <$name as $crate::Operation>::PATH,
                    <<$name as $crate::Operation>::Path as $crate::PathParameters>::PARAMETERS,
                ),
                "the placeholders of the path are not the parameters of its type",
            );
        )+

        pub(super) const SPECS: &[&$crate::Spec] = &[$(<$name as $crate::Operation>::SPEC,)+];

        pub(super) mod visitor {
            /// A visitor of all operations of the group.
            pub trait VisitAll: $($crate::Visit<super::$name> +)+ {}

            impl<V: $($crate::Visit<super::$name> +)+> VisitAll for V {}
        }

        pub(super) fn for_each<V: visitor::VisitAll>(visitor: &mut V) {
            $(<V as $crate::Visit<$name>>::visit(visitor);)+
        }
    };
}

/// Combines the groups, in the order of the reference.
macro_rules! groups {
    ($($group:ident)+) => {
        $(
            mod $group;
            pub use $group::*;
        )+

        const GROUPS: &[&[&Spec]] = &[$($group::SPECS,)+];

        /// Visits every operation, in the order of the reference.
        pub fn for_each<V: $($group::visitor::VisitAll +)+>(visitor: &mut V) {
            $($group::for_each(visitor);)+
        }
    };
}

groups!(search documents citations research feedback files usage account keys webhooks crawls web_pages);

/// Every operation, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    GROUPS.iter().flat_map(|group| group.iter().copied())
}

/// The operation with this method and path template, such as `GET /v1/files`.
pub fn by_route(route: &str) -> Option<&'static Spec> {
    all().find(|spec| spec.route == route)
}
