//! What a receiver must refuse.

use super::Envelope;

/// The HTTP status with which a receiver answers an envelope that is not valid.
pub const STATUS: u16 = 400;

/// Why a receiver must refuse an envelope. Its text names the field and never its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// The organisation is named, and not by a UUID.
    #[error("org_id must be a UUID when it is not empty")]
    OrgId,
    /// The parent is there and blank, which only a JSON body can say.
    #[error("parent_harness_session_id must not be blank")]
    Parent,
    /// The metadata is no JSON object.
    #[error("harness_metadata must be a JSON object")]
    Metadata,
}

impl Invalid {
    /// The field that is not valid, by its name in the JSON form.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            Invalid::OrgId => "org_id",
            Invalid::Parent => "parent_harness_session_id",
            Invalid::Metadata => "harness_metadata",
        }
    }
}

impl Envelope {
    /// Checks what a receiver asks of an envelope, from headers or from a JSON body.
    ///
    /// # Errors
    ///
    /// The first [`Invalid`] field; the receiver answers [`STATUS`] and stores nothing.
    pub fn validate(&self) -> Result<(), Invalid> {
        if !self.org_id.is_empty() && uuid::Uuid::try_parse(&self.org_id).is_err() {
            return Err(Invalid::OrgId);
        }
        if self.parent_harness_session_id.as_ref().is_some_and(|parent| parent.trim().is_empty()) {
            return Err(Invalid::Parent);
        }
        if self.harness_metadata.as_ref().is_some_and(|metadata| !metadata.is_object()) {
            return Err(Invalid::Metadata);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(json: &str) -> Envelope {
        serde_json::from_str(json).expect("an envelope")
    }

    #[test]
    fn a_body_may_leave_out_everything_and_is_then_unknown() {
        assert_eq!(body("{}"), Envelope::default());
        assert_eq!(body("{}").validate(), Ok(()));
    }

    #[test]
    fn a_body_with_an_empty_parent_is_refused() {
        for parent in ["", " "] {
            let envelope =
                body(&format!(r#"{{"harness_id":"codex","parent_harness_session_id":"{parent}"}}"#));
            assert_eq!(envelope.validate(), Err(Invalid::Parent));
        }
    }

    #[test]
    fn an_organisation_is_a_uuid_or_none() {
        for (org, expected) in [
            ("", Ok(())),
            ("00000000-0000-4000-8000-000000000001", Ok(())),
            ("not-a-uuid", Err(Invalid::OrgId)),
            (" ", Err(Invalid::OrgId)),
        ] {
            let envelope = Envelope { org_id: org.into(), ..Envelope::default() };
            assert_eq!(envelope.validate(), expected, "{org:?}");
        }
    }

    #[test]
    fn metadata_is_an_object_or_none() {
        for (metadata, expected) in
            [("{}", Ok(())), ("[]", Err(Invalid::Metadata)), ("\"s\"", Err(Invalid::Metadata))]
        {
            let envelope =
                Envelope { harness_metadata: serde_json::from_str(metadata).ok(), ..Envelope::default() };
            assert_eq!(envelope.validate(), expected, "{metadata}");
        }
    }

    #[test]
    fn an_error_names_the_field_and_not_its_value() {
        let invalid = Envelope { org_id: "hunter2".into(), ..Envelope::default() }.validate();
        let error = invalid.expect_err("not a UUID");
        assert!(
            error.to_string().contains(error.field()) && !format!("{error} {error:?}").contains("hunter2")
        );
    }
}
