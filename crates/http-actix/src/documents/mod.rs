//! Documents on the wire: conversion of requests and outcomes, and the budget that several documents share.

pub(crate) mod batch;
pub(crate) mod budget;
pub(crate) mod request;
pub(crate) mod view;
