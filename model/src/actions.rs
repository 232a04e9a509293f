//! Fetches the logits of legal actions, which alone leave the device: the three parts of the policy vector are three tensors,
//! and an index of the vector is looked up in the part that it belongs to.

use tch::{Kind, Tensor};

use crate::error::Error;
use latrunculi_data::{Error as DataError, Shape, check_length};

/// No second entry.
const NONE: u32 = u32::MAX;

/// The entries to fetch for a batch of `B` positions with `L` legal actions in all.
#[derive(Debug, Default)]
pub(crate) struct ActionGather {
    /// Indices into the flattened `[B, A, A]`, `[B, 4, A]` and `[B, 2]`.
    parts: [Vec<i64>; 3],
    /// `[L]`: index of the first entry among all that are fetched, one part after the other.
    first: Vec<u32>,
    /// `[L]`: index of the second entry, or `NONE`. Empty when no action has one.
    second: Vec<u32>,
}

impl ActionGather {
    /// Sorts the entries of a batch by the tensor that holds them.
    /// `offsets` is `[B + 1]`, `indices` `[L]`, as in [`latrunculi_data::TrainingBatch`].
    pub(crate) fn new(shape: &Shape, offsets: &[u32], indices: &[[u32; 2]]) -> Result<ActionGather, DataError> {
        let mut gather = ActionGather::default();
        gather.fill(shape, offsets, indices)?;
        Ok(gather)
    }

    /// As [`ActionGather::new`], reusing the memory.
    pub(crate) fn fill(&mut self, shape: &Shape, offsets: &[u32], indices: &[[u32; 2]]) -> Result<(), DataError> {
        let area = shape.area();
        let (map_len, square_len, policy_len) = (area * area, 4 * area, shape.policy_len());
        let batch_size = offsets.len().saturating_sub(1);
        check_length("action_indices", indices.len(), offsets.last().map_or(0, |&last| last as usize))?;
        if offsets.first() != Some(&0) {
            return Err(DataError::out_of_range("action_offsets", 0));
        }
        self.parts.iter_mut().for_each(Vec::clear);
        self.first.clear();
        self.second.clear();
        let mut any_second = false;
        // The two highest bits hold the part of an entry until the lengths of the parts are known.
        for position in 0..batch_size {
            let (start, end) = (offsets[position] as usize, offsets[position + 1] as usize);
            if start > end || end > indices.len() {
                return Err(DataError::out_of_range("action_offsets", position + 1));
            }
            for (action, pair) in indices[start..end].iter().enumerate() {
                let mut look_up = |index: u32| -> Option<u32> {
                    let index = index as usize;
                    let (part, len, within) = if index < map_len {
                        (0, map_len, index)
                    } else if index < map_len + square_len {
                        (1, square_len, index - map_len)
                    } else if index < policy_len {
                        (2, 2, index - map_len - square_len)
                    } else {
                        return (index == policy_len).then_some(NONE);
                    };
                    let entries = &mut self.parts[part];
                    entries.push((position * len + within) as i64);
                    Some((part as u32) << 30 | (entries.len() - 1) as u32)
                };
                let out_of_range = || DataError::out_of_range("action_indices", start + action);
                let (Some(first), Some(second)) = (look_up(pair[0]), look_up(pair[1])) else {
                    return Err(out_of_range());
                };
                if first == NONE {
                    return Err(out_of_range());
                }
                any_second |= second != NONE;
                self.first.push(first);
                self.second.push(second);
            }
        }
        let starts = [0, self.parts[0].len() as u32, (self.parts[0].len() + self.parts[1].len()) as u32];
        let resolve = |entry: &mut u32| {
            if *entry != NONE {
                *entry = starts[(*entry >> 30) as usize] + (*entry & 0x3fff_ffff);
            }
        };
        self.first.iter_mut().for_each(resolve);
        if any_second {
            self.second.iter_mut().for_each(resolve);
        } else {
            self.second.clear();
        }
        Ok(())
    }

    pub(crate) fn entry_count(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// Fetches the entries from the logits `[B, A, A]`, `[B, 4, A]`, `[B, 2]`: `[entry_count] f32` on their device.
    pub(crate) fn fetch(&self, sources: [&Tensor; 3]) -> Result<Tensor, Error> {
        let mut fetched = Vec::with_capacity(3);
        for (source, entries) in sources.into_iter().zip(&self.parts) {
            if !entries.is_empty() {
                let index = Tensor::f_from_slice(entries)?.f_to_device(source.device())?;
                fetched.push(source.f_reshape([-1])?.f_index_select(0, &index)?.f_to_kind(Kind::Float)?);
            }
        }
        match fetched.len() {
            0 => Ok(Tensor::f_zeros([0], (Kind::Float, sources[0].device()))?),
            1 => Ok(fetched.remove(0)),
            _ => Ok(Tensor::f_cat(&fetched, 0)?),
        }
    }

    /// Writes the logit of each action into `logits`, `[L]`, computed from the fetched entries, `[entry_count]`.
    pub(crate) fn combine(&self, entries: &[f32], logits: &mut Vec<f32>) {
        logits.clear();
        if self.second.is_empty() {
            logits.extend(self.first.iter().map(|&first| entries[first as usize]));
        } else {
            let second = |index: u32| if index == NONE { 0.0 } else { entries[index as usize] };
            let pairs = self.first.iter().zip(&self.second);
            logits.extend(pairs.map(|(&first, &index)| entries[first as usize] + second(index)));
        }
    }

    /// Returns the logits as a padded table `[B, width] f32` from the fetched entries, `[entry_count]`.
    /// Row `i` begins with the actions of position `i`; its remaining entries are -10,000, so that their probability
    /// is 0 and a target of 0 there adds nothing to the loss.
    pub(crate) fn table(&self, entries: &Tensor, offsets: &[u32], width: usize) -> Result<Tensor, Error> {
        let batch_size = offsets.len() - 1;
        let count = self.entry_count() as i64;
        let (zero, padding) = (count, count + 1);
        let constants = Tensor::f_from_slice(&[0.0_f32, -1e4])?.f_to_device(entries.device())?;
        let entries = Tensor::f_cat(&[entries, &constants], 0)?;
        let look_up = |entry_indices: &[u32], none: i64| -> Result<Tensor, Error> {
            let mut index = vec![none; batch_size * width];
            for (row, offset) in index.chunks_mut(width).zip(offsets.windows(2)) {
                for (cell, &entry) in row.iter_mut().zip(&entry_indices[offset[0] as usize..offset[1] as usize]) {
                    *cell = if entry == NONE { zero } else { i64::from(entry) };
                }
            }
            let index = Tensor::f_from_slice(&index)?.f_to_device(entries.device())?;
            Ok(entries.f_index_select(0, &index)?)
        };
        let mut table = look_up(&self.first, padding)?;
        if !self.second.is_empty() {
            table = table.f_add(&look_up(&self.second, zero)?)?;
        }
        Ok(table.f_view([batch_size as i64, width as i64])?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    #[test]
    fn each_index_finds_its_entry_and_pairs_are_summed() {
        let shape = Shape { files: 2, ranks: 2, planes: 1, scalars: 0 };
        let len = shape.policy_len() as i64; // 16 + 16 + 2
        let batch = 2;
        let range = |start: i64, size: &[i64]| {
            let count = size.iter().product::<i64>();
            (Tensor::arange(count, (Kind::Float, Device::Cpu)) + start).view(size)
        };
        let sources = [range(0, &[batch, 4, 4]), range(1000, &[batch, 4, 4]), range(2000, &[batch, 2])];
        let none = len as u32;
        let offsets = [0, 3, 5];
        let indices = [[3, none], [16 + 5, none], [32, none], [1, 16 + 12], [33, none]];
        let gather = ActionGather::new(&shape, &offsets, &indices).unwrap();
        let entries = gather.fetch(sources.each_ref()).unwrap();
        let values: Vec<f32> = Vec::try_from(&entries).unwrap();
        let mut logits = Vec::new();
        gather.combine(&values, &mut logits);
        assert_eq!(logits, [3.0, 1005.0, 2000.0, 17.0 + 1028.0, 2003.0]);
        let table = gather.table(&entries, &offsets, 3).unwrap();
        let table: Vec<f32> = Vec::try_from(table.view(-1)).unwrap();
        assert_eq!(table, [3.0, 1005.0, 2000.0, 17.0 + 1028.0, 2003.0, -1e4]);
    }

    #[test]
    fn indices_beyond_the_policy_are_refused() {
        let shape = Shape { files: 2, ranks: 2, planes: 1, scalars: 0 };
        let none = shape.policy_len() as u32;
        assert!(ActionGather::new(&shape, &[0, 1], &[[none + 1, none]]).is_err());
        assert!(ActionGather::new(&shape, &[0, 1], &[[none, none]]).is_err());
        assert!(ActionGather::new(&shape, &[0, 2], &[[0, none]]).is_err());
        assert!(ActionGather::new(&shape, &[0, 2, 1], &[[0, none]]).is_err());
    }
}
