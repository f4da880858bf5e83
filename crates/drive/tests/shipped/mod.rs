//! The models that come with drivelab, with the layers that they stand on.

use std::path::PathBuf;
use std::sync::Arc;

use drivelab_drive::{Drive, Layer, Model, ModelError};

/// Name and text of every model file, in order of the names.
pub fn models() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut models: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    models.sort();
    models
}

/// The text of one of them.
pub fn text(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.toml"));
    std::fs::read_to_string(path).unwrap()
}

/// A model with the layers that it stands on and the members that it names, and what `overrides` change.
pub fn varied(name: &str, overrides: &[(&str, &str)]) -> Result<Model, ModelError> {
    let mut texts = vec![(name.to_owned(), text(name))];
    while let Some(base) = stated(&texts[0].1, "base") {
        let base = base.as_str().unwrap().to_owned();
        texts.insert(0, (base.clone(), text(&base)));
    }
    if let Some(part) = texts.iter().rev().find_map(|(_, text)| stated(text, "flash.part")) {
        let part = part.as_str().unwrap();
        // A grade, PART@GRADE, lies above its part.
        let mut files = vec![part];
        files.extend(part.split_once('@').map(|(whole, _)| whole));
        for file in files {
            texts.insert(0, (format!("flash/{file}"), text(&format!("flash/{file}"))));
        }
    }
    let names = texts.iter().rev().find_map(|(_, text)| stated(text, "members"));
    let names = names.as_ref().and_then(toml::Value::as_array).into_iter().flatten();
    let members: Vec<_> = names.map(|name| Arc::new(shipped(name.as_str().unwrap()))).collect();
    let layers: Vec<_> = texts.iter().map(|(origin, text)| Layer { text, origin }).collect();
    let pairs: Vec<_> = overrides.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Model::parse_array(&layers, &pairs, &members)
}

/// A model as it is shipped.
pub fn shipped(name: &str) -> Model {
    varied(name, &[]).unwrap()
}

/// A new drive of a varied model.
pub fn drive(name: &str, overrides: &[(&str, &str)]) -> Drive {
    Drive::new(Arc::new(varied(name, overrides).unwrap()), 1).unwrap()
}

fn stated(text: &str, key: &str) -> Option<toml::Value> {
    let table: toml::Table = text.parse().unwrap();
    let value = match key.split_once('.') {
        Some((section, key)) => table.get(section)?.get(key)?,
        None => table.get(key)?,
    };
    Some(value.get("value").unwrap_or(value).clone())
}
