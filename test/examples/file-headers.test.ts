// Checks that every source file opens with one sentence that begins with a verb and says what the file does ("Reads the
// head of …"), and that none opens with a telegraph such as "A head in, its fields out".

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { filesBelow } from '../support/files-below.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = [
  'base',
  'cli',
  'compiler',
  'dataplane',
  'dev',
  'language',
  'operator',
  'telemetry',
  'test/support',
  'web',
] as const

const SOURCE = /(?<!\.test)\.(?:ts|js)$/

/** The text of the comment at the very top, which may follow a `#!` line; undefined: there is none. */
const headerOf = (source: string): string | undefined => {
  const lines = source.replace(/^#!.*\n/, '').split('\n')
  const end = lines.findIndex((line) => !line.startsWith('//'))
  const header = lines.slice(0, end < 0 ? lines.length : end)
  return header.length === 0 ? undefined : header.map((line) => line.slice(2).trim()).join(' ')
}

/** The third person singular, not a plural noun such as "Subscriptions". */
const VERB = /^(?!\w+ions\b|Arguments\b|Headers\b|Ids\b|Status\b|Texts\b|Verdicts\b)[A-Z][a-z]*s\b/
/** Words before "out" that make it a part of a verb: "is left out". */
const PHRASAL = String.raw`(?<!\b(?:finds?|gives?|left|leaves?|runs?|sends?|sent|tim(?:es|ed)|written) )`
const TELEGRAPH = [
  new RegExp(String.raw`\bin[,;:] .*${PHRASAL}\bout\b`),
  new RegExp(String.raw`[,;] [^,;.]*${PHRASAL}\bout$`),
  /\bcomes? in\b.*\bgoes? out\b|\bcomes? in\b.*\bgo out\b/,
] as const

/** What is wrong with a header; undefined: nothing. */
const problemOf = (source: string): string | undefined => {
  const header = headerOf(source)
  if (header === undefined) return 'no comment says what the file does'
  const [sentence = ''] = header.split(/\.(?= |$)/)
  if (TELEGRAPH.some((pattern) => pattern.test(sentence))) return `a telegraph: ${sentence}`
  return VERB.test(sentence) ? undefined : `no verb first: ${sentence}`
}

describe('the headers of source files', () => {
  it.each(FOLDERS)('of %s/ are sentences that say what the file does', (folder) => {
    const files = filesBelow(join(ROOT, folder), SOURCE)
    expect(files.length).toBeGreaterThan(0)
    const problems = files.flatMap((file) => {
      const problem = problemOf(readFileSync(file, 'utf8'))
      return problem === undefined ? [] : [`${relative(ROOT, file)}: ${problem}`]
    })
    expect(problems).toEqual([])
  })

  it.each([
    ["import { a } from './a.ts'", 'no comment says what the file does'],
    ['/** A function. */\nexport const a = 1', 'no comment says what the file does'],
    ['// A head in, its fields out.', 'a telegraph: A head in, its fields out'],
    ['// A head in; its fields out. Pure.', 'a telegraph: A head in; its fields out'],
    [
      '// Reads, again and again, in; what is new, out.',
      'a telegraph: Reads, again and again, in;',
    ],
    ['// Resources in turn; the next one, out.', 'a telegraph: Resources in turn;'],
    ['// A secret comes in; its digest goes out.', 'a telegraph: A secret comes in;'],
    ['// Subscriptions of a session.', 'no verb first: Subscriptions'],
    ['// The door to the wire.', 'no verb first: The door'],
  ])('would not pass with %j', (source, problem) => {
    expect(problemOf(source)).toMatch(
      new RegExp(`^${problem.replaceAll(/[;.]/g, String.raw`\$&`)}`),
    )
  })

  it.each([
    '// Reads the head of a request, in one pass. What it does not need is left out.',
    '#!/usr/bin/env node\n// Starts the program.',
    '// Warns of requests, with the number of those that were left out.',
    '// Opens, replaces and closes links.',
  ])('passes with %j', (source) => {
    expect(problemOf(source)).toBeUndefined()
  })
})
