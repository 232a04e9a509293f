//! The server, asked over HTTP as a browser does.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod client;
mod folders;
mod games;
mod searches;
