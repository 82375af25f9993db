// Builds the program of a router, once per recipe, into a cache outside the checkout. What is built already is not
// checked again.

import { spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  builtDirectory,
  builtProgram,
  builtStamp,
  isBuilt,
  type RealRouterName,
  recipeDirectory,
} from './recipe.ts'
import { whileLocked } from './build-lock.ts'

/** Cold: nexus about 40 s, Crossbar about 60 s, with progress on stderr. Throws with the tool's last lines. */
export const buildRouter = async (name: RealRouterName): Promise<string> => {
  if (!isBuilt(name)) await buildAlone(name)
  return builtProgram(name)
}

/** Workers of one test run come here at once: the first builds, the others wait for it. */
const buildAlone = (name: RealRouterName): Promise<void> =>
  whileLocked(`${builtDirectory(name)}.lock`, async () => {
    if (isBuilt(name)) return
    await rm(builtDirectory(name), { recursive: true, force: true })
    await mkdir(builtDirectory(name), { recursive: true })
    for (const { command, args } of STEPS[name]())
      await runStep(command, args, recipeDirectory(name))
    await writeFile(builtStamp(name), '')
  })

interface Step {
  readonly command: string
  readonly args: readonly string[]
}

const STEPS = {
  nexus: () => [
    { command: 'go', args: ['build', '-buildvcs=false', '-o', builtProgram('nexus'), '.'] },
  ],
  crossbar: () => [
    { command: 'python3', args: ['-m', 'venv', builtDirectory('crossbar')] },
    {
      command: join(builtDirectory('crossbar'), 'bin/pip'),
      args: ['install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt'],
    },
  ],
} satisfies Record<RealRouterName, () => readonly Step[]>

const runStep = (command: string, args: readonly string[], cwd: string): Promise<void> => {
  process.stderr.write(`+ ${[command, ...args].join(' ')}\n`)
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000)
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new Error(`${command} could not be run`, { cause }))
    })
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${command} ended with ${code ?? 'a signal'}:\n${output}`))
    })
  })
}
