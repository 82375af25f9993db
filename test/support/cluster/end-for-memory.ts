// Has the kernel kill the processes of a container of a Pod for memory, as it does where they exceed their limit: the
// limit goes down until that is so. The next container has its old limit again.

import type { ClusterNode } from './cluster-node.ts'

/**
 * Cgroups of version 2 take any limit. Version 1 takes none below what it can't free: somebody else in there, whom the
 * kernel likes better, asks for more then.
 */
const SQUEEZE = `
v1=$(awk -F: '$2 == "memory" { print $3 }' "/proc/$1/cgroup")
v2=$(awk -F: '$1 == "0" { print $3 }' "/proc/$1/cgroup")
if [ -n "$v1" ]; then
  at=/sys/fs/cgroup/memory$v1
  for bytes in 16777216 4194304 1048576; do
    echo $(($(<"$at/memory.usage_in_bytes") - bytes)) >"$at/memory.limit_in_bytes" || true
  done
  (echo $BASHPID >"$at/cgroup.procs" && echo 0 >/proc/self/oom_score_adj && exec tail /dev/zero) &
else
  echo 1M >"/sys/fs/cgroup$v2/memory.max"
fi 2>/dev/null
for _ in $(seq 1000); do
  if ! grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null; then
    kill -9 $(jobs -p) 2>/dev/null
    exit 0
  fi
  sleep 0.01
done
kill -9 $(jobs -p)
exit 1`

/**
 * Resolves when its first process has ended.
 *
 * @param id as the status of a Pod has it, without `containerd://`
 * @throws where it does not end
 * @example await endForMemory(cluster(), id)
 */
export const endForMemory = async (cluster: ClusterNode, id: string): Promise<void> => {
  const { stdout } = await cluster.ctr(['tasks', 'ls'])
  const [, pid] = new RegExp(`^${id}\\s+(\\d+)`, 'm').exec(stdout) ?? []
  if (pid === undefined) throw new Error(`there is no task ${id}:\n${stdout}`)
  const { code, stderr } = await cluster.exec(['bash', '-c', SQUEEZE, 'squeeze', pid])
  if (code !== 0) throw new Error(`the task ${id} has not ended: ${stderr}`)
}
