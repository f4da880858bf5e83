//! Places for connections, found by number in constant time.

use crate::pending::ClientId;

/// Generations fit a poller's token beside index and kind.
pub(crate) const GENERATION_MASK: u32 = (1 << 30) - 1;

struct Place<T> {
    generation: u32,
    held: Option<T>,
}

/// A table whose places are used again, under another generation.
pub(crate) struct Table<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

impl<T> Table<T> {
    pub(crate) fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn count(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Holds what `make` makes of its name.
    pub(crate) fn insert(&mut self, make: impl FnOnce(ClientId) -> T) -> ClientId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, held: None });
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[index as usize];
        let id = ClientId { index, generation: place.generation };
        place.held = Some(make(id));
        id
    }

    pub(crate) fn get(&mut self, id: ClientId) -> Option<&mut T> {
        let place = self.places.get_mut(id.index as usize)?;
        if place.generation == id.generation { place.held.as_mut() } else { None }
    }

    pub(crate) fn remove(&mut self, id: ClientId) -> Option<T> {
        let place = self.places.get_mut(id.index as usize)?;
        if place.generation != id.generation {
            return None;
        }
        let held = place.held.take()?;
        place.generation = (place.generation + 1) & GENERATION_MASK;
        self.free.push(id.index);
        Some(held)
    }

    /// The names of all that are held.
    pub(crate) fn ids(&self) -> Vec<ClientId> {
        let id = |(index, place): (usize, &Place<T>)| {
            place.held.as_ref().map(|_| ClientId { index: index as u32, generation: place.generation })
        };
        self.places.iter().enumerate().filter_map(id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_used_again_has_another_name() {
        let mut table = Table::new();
        let first = table.insert(|_| 'a');
        let second = table.insert(|_| 'b');
        assert_eq!(table.remove(first), Some('a'));
        let third = table.insert(|_| 'c');
        assert_eq!(third.index, first.index);
        assert_eq!(table.get(first), None);
        assert_eq!(table.remove(first), None);
        assert_eq!(table.get(third), Some(&mut 'c'));
        assert_eq!(table.ids(), [third, second]);
        assert_eq!(table.count(), 2);
    }
}
