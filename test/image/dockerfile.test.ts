// What can be said of the image without building it; test/cluster/image.test.ts looks into a built one.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { programEnvironment } from '../support/program-environment.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')

const instructions = read('Dockerfile')
  .split('\n')
  .filter((line) => !line.trimStart().startsWith('#'))
  .join('\n')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')

const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM ')))

describe('Dockerfile', () => {
  it('has a last stage from scratch, that runs nothing and has an unprivileged user', () => {
    expect(last[0]).toBe('FROM scratch')
    expect(last.filter((line) => line.startsWith('RUN '))).toEqual([])
    expect(last).toContain('USER 65532:65532')
    expect(last).toContain('CMD ["svc-gateway"]')
    expect(
      last
        .filter((line) => line.startsWith('COPY '))
        .every((line) => line.includes('--from=assembly')),
    ).toBe(true)
  })

  it('takes its base as an argument, in every other stage', () => {
    expect(instructions[0]).toMatch(/^ARG BASE=node:24-slim$/)
    const stages = instructions.filter((line) => line.startsWith('FROM '))
    expect(stages.slice(0, -1).every((line) => line.startsWith('FROM ${BASE} AS '))).toBe(true)
  })

  it.each(['--mount', '--link', '<<', 'syntax=', 'HEALTHCHECK', '--parents ', '--exclude'])(
    'has nothing that an older builder does not understand: %s',
    (word) => {
      expect(
        instructions.filter((line) => /^(?:FROM|COPY|ADD|RUN --|# syntax)/.test(line)).join('\n'),
      ).not.toContain(word)
      expect(instructions.filter((line) => line.startsWith(word))).toEqual([])
    },
  )

  it('names none of the tools that only developers need', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as {
      readonly devDependencies: Readonly<Record<string, string>>
    }
    const words = new Set(instructions.join(' ').split(/[^\w@/.-]+/))
    // The runtime has the name of a package, and is not it.
    const named = Object.keys(devDependencies).filter((name) => name !== 'node' && words.has(name))
    expect(named).toEqual([])
    expect(
      instructions
        .filter((line) => line.includes('npm ci'))
        .every((line) => line.includes('--ignore-scripts')),
    ).toBe(true)
  })

  it('tells what it is by labels', () => {
    const labels = last.find((line) => line.startsWith('LABEL ')) ?? ''
    const titles = ['title', 'version', 'revision', 'source', 'licenses']
    expect(
      titles.filter((title) => !labels.includes(`org.opencontainers.image.${title}=`)),
    ).toEqual([])
  })

  it('copies only what the context has', () => {
    const copied = instructions
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(/\s+/).slice(1, -1))
    const allowed = new Set(contextOf())
    expect(copied.filter((name) => !allowed.has(name))).toEqual([])
  })
})

/** What .dockerignore lets through: it refuses everything first. */
const contextOf = (): readonly string[] =>
  read('.dockerignore')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))

describe('.dockerignore', () => {
  it('refuses everything that it does not name', () => {
    const lines = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(lines[0]).toBe('*')
    expect(lines.slice(1).every((line) => /^![\w.-]+$/.test(line))).toBe(true)
    expect(contextOf().filter((name) => !existsSync(join(ROOT, name)))).toEqual([])
  })

  it.each(['.git', 'node_modules', '.env', '.npmrc', 'test', 'dev', 'helm', 'coverage', 'dist'])(
    'keeps %s out',
    (name) => {
      expect(contextOf()).not.toContain(name)
    },
  )
})

describe('.ci/build-image', () => {
  it('says what it needs where there is no builder', () => {
    const { status, stderr } = spawnSync('/bin/bash', [join(ROOT, '.ci/build-image')], {
      env: { PATH: '/nonexistent' },
      encoding: 'utf8',
    })
    expect(status).not.toBe(0)
    expect(stderr).not.toBe('')
  })
})

describe('the base of the image', () => {
  const DIGEST = `sha256:${'0a'.repeat(32)}`

  /** Runs the build with a builder that prints its arguments. */
  const build = (env: Readonly<Record<string, string>>) => {
    const { status, stdout, stderr } = spawnSync(join(ROOT, '.ci/build-image'), {
      env: programEnvironment({ BUILDER: 'echo', ...env }),
      encoding: 'utf8',
    })
    return { status, stderr, base: / BASE=(\S+)/.exec(stdout)?.[1] }
  }

  it('is what one file names, with its digest', () => {
    const named = read('.ci/base-image').trim()
    expect(named).toMatch(/^node:24-slim@sha256:[0-9a-f]{64}$/)
    expect(build({ PINNED: '1' })).toEqual({ status: 0, stderr: '', base: named })
  })

  it.each([
    ['with its digest', `node:24-slim@${DIGEST}`, 0, ''],
    ['by its tag', 'node:24-slim', 1, 'has no digest'],
    ['with half of a digest', `node:24-slim@${DIGEST.slice(0, 40)}`, 1, 'has no digest'],
    ['with another hash', `node:24-slim@md5:${'0a'.repeat(16)}`, 1, 'has no digest'],
  ])('that is named %s: PINNED=1 exits with the right code', (_title, base, code, message) => {
    const pinned = build({ BASE: base, PINNED: '1' })
    expect(pinned).toMatchObject({ status: code, stderr: expect.stringContaining(message) })
    expect(pinned.base).toBe(code === 0 ? base : undefined)
    const unpinned = build({ BASE: base })
    expect(unpinned).toMatchObject({ status: 0, base })
    expect(unpinned.stderr.includes('without a digest')).toBe(code !== 0)
  })
})
