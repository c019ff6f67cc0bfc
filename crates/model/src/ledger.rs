use crate::names::named_enum;

named_enum! {
    /// The reason of a change to an organization's balance.
    BalanceReason: "balance reason" {
        /// The balance that an organization is created with.
        Prepaid = "prepaid",
        /// A later payment.
        Added = "added",
        /// The price of a search.
        Search = "search",
        /// The price of a search that failed.
        Refund = "refund",
    }
}
