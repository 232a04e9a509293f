//! The policy/value network on libtorch.

#[cfg(test)]
mod tests {
    #[test]
    fn libtorch_starts() {
        let ones = tch::Tensor::ones([2, 3], (tch::Kind::Float, tch::Device::Cpu));
        assert_eq!(ones.sum(tch::Kind::Float).double_value(&[]), 6.0);
    }
}
