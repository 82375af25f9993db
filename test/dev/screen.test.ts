// What the playground greets with.

import { describe, expect, it } from '@jest/globals'
import { type Greeting, renderGreeting } from '../../dev/screen.ts'

const READY = { type: 'Ready', status: 'True', reason: 'Ready', message: 'in service' }
const INVALID = { type: 'Ready', status: 'False', reason: 'Invalid', message: '/spec/x: bad' }

const GREETING: Greeting = {
  urls: {
    public: 'http://127.0.0.1:1',
    management: 'http://127.0.0.1:2',
    status: 'http://127.0.0.1:3',
    backend: 'http://127.0.0.1:4',
    router: 'ws://127.0.0.1:5/',
    idp: 'http://127.0.0.1:6',
    page: 'http://127.0.0.1:7',
  },
  manifests: 'examples',
  isCopy: false,
  examples: [
    {
      file: 'a.yaml',
      title: 'Says a',
      tries: [{ command: 'curl -i http://a', expected: '200' }],
      pages: ['http://a/page'],
    },
    { file: 'realm.yaml', title: 'A realm', tries: [], pages: [] },
  ],
  status: {
    ready: true,
    resources: [{ kind: 'ApiSpecification', name: 'a', conditions: [READY] }],
    notes: [],
    dataPlanes: [],
  },
  taken: [],
}

describe('renderGreeting', () => {
  it('names every address, a first request and the pages, and where there are more', () => {
    const text = renderGreeting(GREETING)
    expect(text).toContain('\n  curl -i http://a\n')
    expect(text).toContain('In a browser: http://a/page\n')
    expect(text).toContain('each file in examples/')
    for (const url of Object.values(GREETING.urls)) expect(text).toContain(url)
    expect(text).toContain('1 of 1 documents')
    expect(text).not.toContain('Taken')
    expect(text).not.toContain('Not served')
  })

  it('says what is not served, and why', () => {
    const resources = [{ kind: 'ApiSpecification', name: 'a', conditions: [INVALID] }]
    const notes = [{ severity: 'error', message: 'not YAML: x' }]
    const text = renderGreeting({
      ...GREETING,
      status: { ready: true, resources, notes, dataPlanes: [] },
    })
    expect(text).toContain('0 of 1 documents')
    expect(text).toContain('  ApiSpecification a: Invalid /spec/x: bad')
    expect(text).toContain('  not YAML: x')
  })

  it('has 20 lines at most, whatever there is to say, and clears no screen', () => {
    const example = { file: 'a.yaml', title: 'Says a', pages: ['http://a/1', 'http://a/2'] }
    const tries = Array.from({ length: 9 }, (_, i) => ({ command: `curl ${i}`, expected: '' }))
    const resources = Array.from({ length: 9 }, (_, i) => ({
      kind: 'Realm',
      name: `realm-${i}`,
      conditions: [{ ...INVALID, message: 'one\ntwo' }],
    }))
    const text = renderGreeting({
      ...GREETING,
      examples: Array.from({ length: 30 }, () => ({ ...example, tries })),
      status: {
        ready: true,
        resources,
        notes: [{ severity: 'error', message: 'a\nb' }],
        dataPlanes: [],
      },
      taken: [18080, 18081],
    })
    expect(text.split('\n').length).toBeLessThanOrEqual(20)
    expect(text).toContain('(8 more: http://127.0.0.1:3/status)')
    expect(text).toContain('In a browser: http://a/1 /2 ')
    expect(text).not.toContain('\u001b')
  })

  it('says that ports have moved, and where the copy is', () => {
    const text = renderGreeting({ ...GREETING, taken: [18080], isCopy: true, manifests: '/tmp/x' })
    expect(text).toContain('18080')
    expect(text).toMatch(/\/tmp\/x\/ .*a copy/)
  })
})
