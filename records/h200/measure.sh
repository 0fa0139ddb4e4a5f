#!/usr/bin/env bash
# Measures what the first table of this folder's README has, on one GPU and in one go: kernels on data that stays there, all of
# every output compared, then the link, OpenCL, the meters' messages and energy. Seven to nine minutes.
#
#   bash records/h200/measure.sh [FOLDER]
#
# Lines go to standard output, records of the program to FOLDER (here, if none is named). GPU=1 takes another GPU than the
# first, OPENCL=1 another device of OpenCL than the first of NVIDIA's. BIN names a folder with the programs; without it they are built.
set -euo pipefail
folder=$(realpath "${1:-.}")
cd "$(dirname "$0")/../.."
if [ -z "${BIN:-}" ]; then
    cargo build --release --locked --package cipherlane-cli
    cargo build --release --locked --package cipherlane-cuda --package cipherlane-opencl --examples
    BIN=target/release/examples
    PATH=$PWD/target/release:$PATH
fi
PATH=$(realpath "$BIN"):$PATH
cd "$folder"
failed=0

# Runs a command under its own line, and says how long it took; one that fails does not keep the others from running.
run() {
    local start=$SECONDS
    printf '\n$ %s\n' "$*"
    "$@" || { echo "FAILED: exit code $?"; failed=1; }
    printf '(%s s)\n' $((SECONDS - start))
}

# OpenCL may list this CPU before the GPU.
opencl=${OPENCL:-$(cipherlane devices | sed -n "s/^ *opencl:\([0-9]*\).*NVIDIA.*/\1/p" | head -n 1)}
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv
cuda=(check-cuda exam=no transfers=no device="${GPU:-0}" runs=5)
run "${cuda[@]}" mib=4096 aes-128-ctr aes-256-ctr aes-128-ecb aes-128-cbc aes-128-xts aes-128-gcm
run "${cuda[@]}" mib=1024 aes-128-cbc aes-128-gcm camellia-128-ecb sc2000-128-ecb sm4-ctr sha3-256
run "${cuda[@]}" mib=64 aes-128-cbc
run "${cuda[@]}" mib=5120 aes-128-ctr aes-128-gcm
run check-cuda pinned=yes exam=no device="${GPU:-0}" mib=2048
run check-opencl exam=no long=no speed=yes transfers=no device="${opencl:?OpenCL lists no GPU of NVIDIA}" mib=1024 aes-128-ctr sha-256 sha3-256
run cipherlane lab run gpu-speeds --no-rivals --no-progress --device "cuda:${GPU:-0}" --json table.jsonl
run cipherlane lab run energy --quick --no-progress --device "cuda:${GPU:-0}" --json table-energy.jsonl
exit "$failed"
