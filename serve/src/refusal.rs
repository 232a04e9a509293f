//! Why a request is not answered as it wishes.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::assets;

/// A status and a sentence for whoever asked.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    /// The HTTP library has refused the request.
    pub(crate) fn with(status: StatusCode, message: String) -> Refusal {
        Refusal { status, message }
    }

    /// The request says something that cannot be.
    pub(crate) fn wrong(message: impl Into<String>) -> Refusal {
        Refusal { status: StatusCode::UNPROCESSABLE_ENTITY, message: message.into() }
    }

    /// There is no such thing.
    pub(crate) fn unknown(message: impl Into<String>) -> Refusal {
        Refusal { status: StatusCode::NOT_FOUND, message: message.into() }
    }

    /// Whoever asks may not.
    pub(crate) fn forbidden(message: impl Into<String>) -> Refusal {
        Refusal { status: StatusCode::FORBIDDEN, message: message.into() }
    }

    /// The token is missing or wrong.
    pub(crate) fn no_token() -> Refusal {
        let message = "this address needs the token that the program printed with it: open the whole address";
        Refusal { status: StatusCode::UNAUTHORIZED, message: message.to_owned() }
    }

    /// Too much is asked at once.
    pub(crate) fn busy(message: impl Into<String>) -> Refusal {
        Refusal { status: StatusCode::SERVICE_UNAVAILABLE, message: message.into() }
    }

    /// Something fails that should not.
    pub(crate) fn failed(message: impl Into<String>) -> Refusal {
        Refusal { status: StatusCode::INTERNAL_SERVER_ERROR, message: message.into() }
    }
}

/// The sentence of a refusal, beside its response.
#[derive(Clone)]
struct Said(String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.message }).to_string();
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        response.extensions_mut().insert(Said(self.message));
        response
    }
}

/// Makes a page of a refusal, for a person who has followed an address; any other response is left as it is.
pub(crate) fn as_page(response: Response) -> Response {
    let Some(Said(message)) = response.extensions().get() else { return response };
    let text = message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let page = assets::REFUSAL.replace("{message}", &text);
    (response.status(), [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}
