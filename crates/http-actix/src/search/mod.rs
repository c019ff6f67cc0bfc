//! Searches on the wire: conversion of the request, and the answer in its preset and budget.

pub(crate) mod computed;
mod hit_view;
mod limit;
pub(crate) mod request;
pub(crate) mod response;
#[cfg(test)]
mod tests;
mod warnings;
