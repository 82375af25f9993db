// Creates the cgroups of a node, which are there until they are disposed of, or until the process that created them is
// no more.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../kubernetes/run-command.ts'

/** Those of containers are below it. All in it have ended, or are about to. */
const REMOVE = `
for tries in $(seq 300); do
  left=
  for each in "$@"; do
    [ ! -d "$each" ] || { left=yes; find "$each" -depth -type d -exec rmdir {} + 2>/dev/null || true; }
  done
  [ -n "$left" ] || exit 0
  sleep 0.1
done
echo "still there: $*" >&2
exit 1`

/** It reads a pipe whose other end we hold. */
const WAIT_AND_REMOVE = `read -r _\n${REMOVE}`

/** @throws on disposal when they are not empty within half a minute */
export const makeCgroups = async (name: string): Promise<AsyncDisposable> => {
  const all = (await cgroupRoots()).map((root) => join(root, name))
  const waiting = spawn('bash', ['-c', WAIT_AND_REMOVE, 'bash', ...all], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  waiting.unref()
  for (const path of all) {
    await mkdir(path, { recursive: true })
    await preferCpu(path)
  }
  return {
    [Symbol.asyncDispose]: async () => {
      const args = ['-c', REMOVE, 'bash', ...all]
      const { code, stderr } = await runCommand({ program: 'bash', args })
      waiting.kill('SIGKILL')
      if (code !== 0) throw new Error(`cgroups of a node: ${stderr}`)
    },
  }
}

/** By version of cgroups; what every other group or process has is a tenth of it. */
const CPU_WEIGHTS = { 'cpu.weight': '1000', 'cpu.shares': '10240' }

/**
 * All Pods together have the weight of one process by default: beside other tests on two cores a hook of a Pod then
 * starts seconds late, which no node of a real cluster would do to it.
 */
const preferCpu = async (path: string): Promise<void> => {
  for (const [file, weight] of Object.entries(CPU_WEIGHTS))
    if (existsSync(join(path, file))) await writeFile(join(path, file), weight)
}

/** With cgroup v1 one per controller, with v2 one, in between both. */
const cgroupRoots = async (): Promise<readonly string[]> => {
  const mounts = await readFile('/proc/mounts', 'utf8')
  return mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type = '']) => type === 'cgroup' || type === 'cgroup2')
    .map(([, path = '']) => path)
}
