// Runs a page of the documentation from top to bottom as a reader does: saves its files, types its commands into one
// shell, opens its links, and compares what is printed with what the page shows.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { env, execPath } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { programEnvironment } from './program-environment.ts'
import { makeTempDir } from './temp-dir.ts'

const ROOT = join(import.meta.dirname, '../..')

export type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  /** `output` '': the page shows none. */
  | { readonly kind: 'command'; readonly command: string; readonly output: string }
  /** A person opens it in a browser, and does what the text says. */
  | { readonly kind: 'page'; readonly url: string; readonly text: string }

/** A file follows "Save … as `NAME`:", commands stand in `console` blocks, a page to open is "Open <URL>". */
const STEP = new RegExp(
  [
    String.raw`^.*\b[Ss]ave .*\bas ~(?<name>[^~\n]+)~.*:\n\n~~~\w+\n(?<text>[^]*?)^~~~$`,
    String.raw`^~~~console\n(?<console>[^]*?)^~~~$`,
    String.raw`^.*\bOpen <(?<url>[^>\n]+)>.*$`,
  ]
    .join('|')
    .replaceAll('~', '`'),
  'gm',
)

export const stepsOf = (page: string): readonly Step[] =>
  [...page.matchAll(STEP)].flatMap(({ 0: whole, groups = {} }): readonly Step[] => {
    const { name, text = '', console: block, url } = groups
    if (name !== undefined) return [{ kind: 'file', name, text }]
    if (block !== undefined) return commandsOf(block)
    return [{ kind: 'page', url: url ?? '', text: whole }]
  })

const commandsOf = (block: string): readonly Step[] =>
  block.split(/^\$ /m).flatMap((part) => {
    const lines = part.trimEnd().split('\n')
    const end = lines.findIndex((line) => !line.endsWith('\\'))
    const command = lines.slice(0, end + 1).join('\n')
    const output = lines.slice(end + 1).join('\n')
    return command === '' ? [] : [{ kind: 'command', command, output }]
  })

export interface TutorialOptions {
  /** Ports of the page → those of this run. */
  readonly ports: Readonly<Record<string, number>>
  /** Beside `svc`, `svc-gateway` and `svc-operator`. */
  readonly environment?: Readonly<Record<string, string>>
  /** Commands that something else stands for here. */
  readonly isNotHere?: (command: string) => boolean
  readonly openPage?: (url: string, text: string) => Promise<void>
  /** Before the first step, in the directory that the reader begins in. */
  readonly prepare?: (directory: string) => Promise<void>
}

/** What a step did otherwise than the page says; a page that works gives none. */
export const runTutorial = async (
  page: string,
  options: TutorialOptions,
): Promise<readonly string[]> => {
  await using directory = await makeTempDir()
  await using shell = await openShell(directory.path, options)
  await options.prepare?.(directory.path)
  const faults: string[] = []
  for (const step of stepsOf(page)) {
    const fault = await runStep(step, shell, options)
    if (fault !== undefined) faults.push(fault)
    // What comes after a failure fails by it.
    if (faults.length > 0) break
  }
  return faults
}

const runStep = async (
  step: Step,
  shell: Shell,
  { ports, isNotHere = () => false, openPage }: TutorialOptions,
): Promise<string | undefined> => {
  const here = moved(ports)
  switch (step.kind) {
    case 'file': {
      const path = join(await shell.directory(), step.name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, here(step.text))
      return undefined
    }
    case 'page':
      await openPage?.(here(step.url), step.text)
      return undefined
    case 'command':
      return isNotHere(step.command)
        ? undefined
        : type(patient(here(step.command)), here(step.output), shell)
  }
}

/** Seconds that a page names are those of a machine with nothing else to do. */
const patient = (command: string): string =>
  command.replaceAll(/(?<=^sleep |--max-time )\d+/g, (seconds) => String(5 * Number(seconds)))

/** A reader who sees something else looks again: what was saved is served within a second or so. */
const LOOKING_MS = 15_000
const LOOK_MS = 100
/** Asking again changes nothing. */
const IS_QUESTION = /^(?:curl (?!.*(?:-X|-d|--data))|kubectl get|tail|cat|grep)/

const type = async (
  command: string,
  expected: string,
  shell: Shell,
): Promise<string | undefined> => {
  const until = performance.now() + (IS_QUESTION.test(command) ? LOOKING_MS : 0)
  let printed = await shell.type(command)
  while (!showsAll(printed, expected) && performance.now() < until) {
    await sleep(LOOK_MS)
    printed = await shell.type(command)
  }
  if (showsAll(printed, expected)) return undefined
  return `$ ${command}\nshould print:\n${expected}\nand prints:\n${printed}`
}

/** `…` stands for anything; of a table the number of blanks is never the same. */
const showsAll = (printed: string, expected: string): boolean => {
  if (expected === '') return true
  const plain = (text: string): string => text.replaceAll('\r', '').replaceAll(/ {2,}/g, ' ').trim()
  const pattern = plain(expected)
    .split('…')
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
    .join('[^]*?')
  return new RegExp(`^${pattern}$`).test(plain(printed))
}

const moved =
  (ports: Readonly<Record<string, number>>) =>
  (text: string): string =>
    text.replaceAll(/(?<=(?:127\.0\.0\.1|localhost):|listen\()(\d+)/g, (port) =>
      String(ports[port] ?? port),
    )

interface Shell extends AsyncDisposable {
  /** All that the command prints, until it ends or runs in the background. */
  readonly type: (command: string) => Promise<string>
  readonly directory: () => Promise<string>
}

const PROGRAMS = {
  svc: 'cli/main.ts',
  'svc-gateway': 'dataplane/main.ts',
  'svc-operator': 'operator/main.ts',
  node: undefined,
} as const
const END = '--the-end-of-the-output--'
const COMMAND_MS = 120_000

const openShell = async (
  directory: string,
  { environment = {} }: TutorialOptions,
): Promise<Shell> => {
  const bin = join(directory, '.bin')
  await mkdir(bin)
  for (const [name, main] of Object.entries(PROGRAMS)) {
    const file = join(bin, name)
    const words = main === undefined ? `'${execPath}'` : `'${execPath}' '${join(ROOT, main)}'`
    await writeFile(file, `#!/bin/sh\nexec ${words} "$@"\n`)
    await chmod(file, 0o755)
  }
  // What `npm install` brings.
  await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  const { PATH = '', ...rest } = environment
  const bash = spawn('bash', ['--noprofile', '--norc'], {
    cwd: directory,
    detached: true,
    env: programEnvironment({
      PATH: [bin, PATH, env['PATH']].filter(Boolean).join(':'),
      HOME: directory,
      ...rest,
    }),
    // The last one is open as long as any program of it runs, wherever its output goes.
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  })
  // Characters may come in two chunks.
  bash.stdout?.setEncoding('utf8')
  bash.stdin?.write('exec 2>&1\n')
  const typeHere = (command: string): Promise<string> => outputOf(bash, command)
  return {
    type: typeHere,
    directory: async () => (await typeHere('pwd')).trim(),
    [Symbol.asyncDispose]: async () => {
      if (bash.pid === undefined || bash.exitCode !== null) return
      // Programs in the background are of its group, and write into the directory until they have ended.
      const closed = once(bash, 'close')
      process.kill(-bash.pid, 'SIGKILL')
      await closed
    },
  }
}

const outputOf = ({ stdin, stdout, exitCode }: ChildProcess, command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    if (stdin === null || stdout === null || exitCode !== null) {
      reject(new Error('the shell has ended'))
      return
    }
    let printed = ''
    const done = (act: () => void): void => {
      clearTimeout(timer)
      stdout.off('data', read).off('end', ended)
      act()
    }
    const read = (chunk: string): void => {
      printed += chunk
      const end = printed.indexOf(`\n${END}`)
      if (end !== -1)
        done(() => {
          resolve(printed.slice(0, end))
        })
    }
    const ended = (): void => {
      done(() => {
        reject(new Error(`the shell ended at: ${command}`))
      })
    }
    const timer = setTimeout(() => {
      done(() => {
        reject(new Error(`${command}: no end after ${COMMAND_MS} ms; so far: ${printed}`))
      })
    }, COMMAND_MS)
    stdout.on('data', read).on('end', ended)
    stdin.write(`${command}\nprintf '\\n%s\\n' '${END}'\n`)
  })
