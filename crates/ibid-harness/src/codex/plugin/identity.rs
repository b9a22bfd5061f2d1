//! How a plugin presents itself.

/// The name and version of a plugin, and what people read of it. What is not set reads as the name:
/// nothing is ever blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub(super) name: String,
    pub(super) version: String,
    description: Option<String>,
    display_name: Option<String>,
    short_description: Option<String>,
    long_description: Option<String>,
    developer_name: Option<String>,
}

impl Identity {
    /// A plugin of this name and version.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Identity {
        Identity {
            name: name.to_owned(),
            version: version.to_owned(),
            description: None,
            display_name: None,
            short_description: None,
            long_description: None,
            developer_name: None,
        }
    }

    /// The same with a description.
    #[must_use]
    pub fn description(mut self, text: &str) -> Identity {
        self.description = Some(text.to_owned());
        self
    }

    /// The same with a name for people.
    #[must_use]
    pub fn display_name(mut self, text: &str) -> Identity {
        self.display_name = Some(text.to_owned());
        self
    }

    /// The same with a description of a few words.
    #[must_use]
    pub fn short_description(mut self, text: &str) -> Identity {
        self.short_description = Some(text.to_owned());
        self
    }

    /// The same with a description of a few sentences.
    #[must_use]
    pub fn long_description(mut self, text: &str) -> Identity {
        self.long_description = Some(text.to_owned());
        self
    }

    /// The same with the name of who makes it.
    #[must_use]
    pub fn developer_name(mut self, text: &str) -> Identity {
        self.developer_name = Some(text.to_owned());
        self
    }

    /// The presentation by slot.
    pub(super) fn slots(&self) -> [(&'static str, &str); 5] {
        [
            ("PLUGIN_DESCRIPTION", self.or_name(self.description.as_deref())),
            ("PLUGIN_DISPLAY_NAME", self.or_name(self.display_name.as_deref())),
            ("PLUGIN_SHORT_DESCRIPTION", self.or_name(self.short_description.as_deref())),
            ("PLUGIN_LONG_DESCRIPTION", self.or_name(self.long_description.as_deref())),
            ("PLUGIN_DEVELOPER_NAME", self.or_name(self.developer_name.as_deref())),
        ]
    }

    fn or_name<'a>(&'a self, text: Option<&'a str>) -> &'a str {
        text.filter(|text| !text.trim().is_empty()).unwrap_or(&self.name)
    }
}
