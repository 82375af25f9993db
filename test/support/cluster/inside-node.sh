#!/usr/bin/env bash
# The first process of a node's pid namespace: hides the host's state behind private mounts, then only reaps.
# Its argument is a directory of the host that is the node's own; `ready` stands in it when all is done.
set -eu
node=$1
for place in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 tmpfs "$place"; done
# Volumes are on disk; images stay in memory (/var/lib/containerd): unpacking them to disk waits for every write.
mkdir /var/lib/kubelet && mount --bind "$node/kubelet" /var/lib/kubelet
# The kubelet sets these. They are the whole machine's, so it gets files to write to instead.
while read -r place value; do
  echo "$value" >"$node/${place##*/}"
  mount --bind "$node/${place##*/}" "/proc/sys/$place"
done <<'SETTINGS'
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
SETTINGS
mount --make-rshared /
echo 1 >/proc/sys/net/ipv4/ip_forward
[ ! -e /proc/sys/net/bridge ] || echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables
ip link set lo up
hostname svc-node
touch "$node/ready"
sleep infinity &
while :; do wait; done
