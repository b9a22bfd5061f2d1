//! What several harnesses share.

pub(crate) mod call_ids;
pub(crate) mod claude_rows;
pub(crate) mod content_blocks;
pub mod documents;
pub(crate) mod fields;
pub mod files;
pub(crate) mod folders;
pub(crate) mod loose;
pub(crate) mod mcp_name;
pub mod opencode_tables;
pub mod pi_tree;
pub(crate) mod pictures;
pub(crate) mod project_folder;
pub(crate) mod tool_shapes;
pub(crate) mod user_query;
pub(crate) mod values;
