// Tests the package that `npm pack` makes: `svc` runs from it in a directory that knows nothing of this checkout, and on
// a Node that is too old it says so in one sentence.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { describeOldNode, MINIMUM_NODE } from '../../telemetry/node-version.ts'
import { onlyInTestAll } from '../support/availability.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import { renderCliPage } from '../support/cli-page.ts'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly bin: Readonly<Record<string, string>>
}

let directory: TempDir

const run = (
  program: string,
  argv: readonly string[],
  cwd: string,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } => {
  const { status, stdout, stderr } = spawnSync(program, argv, { cwd, encoding: 'utf8' })
  return { status, stdout, stderr }
}

const runOrThrow = (program: string, argv: readonly string[], cwd: string): string => {
  const { status, stdout, stderr } = run(program, argv, cwd)
  if (status !== 0) throw new Error(`${program} ${argv.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

const elsewhere = (): string => join(directory.path, 'elsewhere')

/** As npm installs the package, but for its dependencies, which are those of this checkout. */
const install = async (): Promise<void> => {
  directory = await makeTempDir()
  const source = join(directory.path, 'source')
  await mkdir(source)
  const out = join(source, 'dist')
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  // Types are checked elsewhere, which takes longer than the rest of this file.
  runOrThrow(
    process.execPath,
    [tsc, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', out],
    ROOT,
  )
  await writeFile(join(out, 'revision'), 'abcdef\n')
  for (const file of ['package.json', 'LICENSE', 'README.md'])
    await cp(join(ROOT, file), join(source, file))
  const packed = runOrThrow('npm', ['pack', '--ignore-scripts', '--silent'], source)
  const installed = join(elsewhere(), 'node_modules/svc-gateway')
  await mkdir(installed, { recursive: true })
  const tarball = join(source, packed.trim())
  runOrThrow('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed], source)
  await symlink(join(ROOT, 'node_modules'), join(installed, 'node_modules'))
}

const svc = (...argv: readonly string[]): ReturnType<typeof run> =>
  run(
    process.execPath,
    [join(elsewhere(), 'node_modules/svc-gateway', MANIFEST.bin['svc'] ?? ''), ...argv],
    elsewhere(),
  )

describeWhenAvailable('what npm packs', onlyInTestAll('a build', { available: true }), () => {
  beforeAll(install, 300_000)

  afterAll(async () => {
    await directory[Symbol.asyncDispose]()
  })

  describe('the package', () => {
    it('has every program, what they read, and no sources', () => {
      const installed = join(elsewhere(), 'node_modules/svc-gateway')
      for (const path of Object.values(MANIFEST.bin))
        expect(existsSync(join(installed, path))).toBe(true)
      for (const name of ['cli', 'test', 'dev', 'docs'])
        expect(existsSync(join(installed, name))).toBe(false)
    })

    it('runs in another directory, with paths relative to it', () => {
      expect(svc('init', '.')).toMatchObject({ status: 0 })
      expect(svc('validate', 'apis')).toEqual({
        status: 0,
        stdout: '',
        stderr: '1 file with 1 document, 1 realm: 0 errors, 0 warnings\n',
      })
      expect(svc('version').stdout).toBe(
        `svc ${MANIFEST.version} (abcdef), Node ${process.versions.node}\n`,
      )
    })

    it.each(Object.entries(MANIFEST.bin))(
      '%s says in one sentence that Node is too old',
      (name, path) => {
        const program = join(elsewhere(), 'node_modules/svc-gateway', path)
        // A preload makes this Node an old one before anything else is read.
        const pretend =
          'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.20.2"})'
        const { status, stdout, stderr } = run(
          process.execPath,
          ['--import', pretend, program, '--version'],
          elsewhere(),
        )
        expect({ name, status, stdout, stderr }).toEqual({
          name,
          status: 2,
          stdout: '',
          stderr: `${describeOldNode('20.20.2', MINIMUM_NODE) ?? ''}\n`,
        })
      },
    )
  })

  /** Whole command lines with svc in the jobs that docs/cli.md shows. */
  const recipes = (): readonly (readonly [job: string, line: string])[] => {
    const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')
    const blocks = [...page.matchAll(/^(.+), in `\.[^`]+`:\n\n```yaml\n([^]*?)```/gm)]
    return blocks.flatMap(([, job = '', text = '']) =>
      textsIn(parse(text)).flatMap((line) =>
        /(?:^|\s)svc validate /.test(line) ? [[job, line] as const] : [],
      ),
    )
  }

  const textsIn = (value: unknown): readonly string[] => {
    if (typeof value === 'string') return [value]
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
  }

  describe('the jobs of docs/cli.md', () => {
    it('are one for each service', () => {
      expect(recipes().map(([job]) => job)).toEqual(['GitHub Actions', 'GitLab', 'pre-commit'])
    })

    it.each(recipes())('%s: %s', async (_, line) => {
      const bin = join(directory.path, 'bin')
      await mkdir(bin, { recursive: true })
      const main = join(elsewhere(), 'node_modules/svc-gateway', MANIFEST.bin['svc'] ?? '')
      const programs = {
        svc: `exec '${process.execPath}' '${main}' "$@"`,
        // What npx would install is there already: this test reaches no registry.
        npx: '[ "$1 $2 $3 $4" = "--yes --package svc-gateway.tgz svc" ] || exit 9\nshift 4\nexec svc "$@"',
      }
      for (const [name, script] of Object.entries(programs)) {
        await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
        await chmod(join(bin, name), 0o755)
      }
      const runJob = (): ReturnType<typeof run> => {
        const env = { PATH: `${bin}:/usr/bin:/bin`, SVC_PACKAGE: 'svc-gateway.tgz' }
        const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
          cwd: elsewhere(),
          env,
          encoding: 'utf8',
        })
        return { status, stdout, stderr }
      }
      svc('init', '.')
      expect(runJob()).toMatchObject({ status: 0 })
      await writeFile(join(elsewhere(), 'apis/wrong.yaml'), 'kind: Ralm\n')
      expect(runJob()).toMatchObject({ status: 1 })
      await rm(join(elsewhere(), 'apis/wrong.yaml'))
    })
  })
})

describe('the oldest Node', () => {
  it('is the one of package.json', () => {
    expect(MANIFEST.engines.node).toBe(`>=${MINIMUM_NODE}`)
  })

  it.each([
    ['24.9.0', false],
    ['24.10.1', false],
    ['26.0.0', false],
    ['24.8.9', true],
    ['20.20.2', true],
    ['9.24.0', true],
  ])('%s is too old: %s', (version, isOld) => {
    expect(describeOldNode(version, '24.9') !== undefined).toBe(isOld)
  })
})

it('docs/cli.md is what the commands say', async () => {
  expect(readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')).toBe(await renderCliPage())
})

it('the chart has the version of the programs', () => {
  const chart = readFileSync(join(ROOT, 'helm/svc-gateway/Chart.yaml'), 'utf8')
  expect(chart).toContain(`\nversion: ${MANIFEST.version}\nappVersion: ${MANIFEST.version}\n`)
})
