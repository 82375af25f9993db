// Tests the one line that says what `svc serve` serves, or what it cannot.

import { describe, expect, it } from '@jest/globals'
import { findUnserved, servedText } from '../../../cli/serve/served-text.ts'
import { isSettled, type StatusView } from '../../../cli/serve/status-view.ts'

const resource = (kind: string, status: string, reason = ''): StatusView['resources'][number] => ({
  kind,
  name: 'a',
  conditions: [{ type: 'Ready', status, reason, message: '' }],
})

const statusOf = (
  resources: StatusView['resources'],
  ...severities: readonly string[]
): StatusView => ({
  ready: true,
  resources,
  notes: severities.map((severity) => ({ severity, message: '' })),
  dataPlanes: [{ phase: 'synced', message: '' }],
})

const DOCUMENT = resource('ApiSpecification', 'True')
const REALM = resource('Realm', 'True')
const FAULTY = resource('ApiSpecification', 'False', 'Invalid')

it('says how many documents and realms are served, and where', () => {
  const urls = { public: 'http://a', page: 'http://b' }
  expect(servedText(statusOf([DOCUMENT, DOCUMENT, REALM, FAULTY]), urls)).toBe(
    '2 documents and 1 realm at http://a; web page: http://b; Ctrl-C ends it',
  )
})

it.each<[string, StatusView, string | undefined]>([
  ['nothing is wrong', statusOf([DOCUMENT, REALM]), undefined],
  ['a file has a warning', statusOf([DOCUMENT], 'warning'), undefined],
  ['a resource is not ready', statusOf([DOCUMENT, FAULTY]), '1 of 2 resources cannot be served'],
  ['the only one is not', statusOf([FAULTY]), '1 of 1 resource cannot be served'],
  ['a file cannot be read', statusOf([DOCUMENT], 'error'), '1 file cannot be read'],
])('says what is not served where %s', (_, status, expected) => {
  expect(findUnserved(status)).toBe(expected)
})

describe('what is settled', () => {
  const settled = statusOf([DOCUMENT])
  it.each<[string, StatusView, boolean]>([
    ['all that was read', settled, true],
    ['an empty directory', statusOf([]), true],
    ['a document with a mistake', statusOf([FAULTY]), true],
    ['not while files are read', { ...settled, ready: false }, false],
    ['not while a document waits', statusOf([resource('Realm', 'False', 'Pending')]), false],
    ['not without a gateway', { ...settled, dataPlanes: [] }, false],
    [
      'not while the gateway is away',
      { ...settled, dataPlanes: [{ phase: 'unreachable', message: '' }] },
      false,
    ],
    [
      'deletes that are held',
      { ...settled, dataPlanes: [{ phase: 'holding', message: '' }] },
      true,
    ],
  ])('is %s', (_, status, expected) => {
    expect(isSettled(status)).toBe(expected)
  })
})
