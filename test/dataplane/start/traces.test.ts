// What the settings of traces open, and what they refuse to start with.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { StartError } from '../../../dataplane/start-error.ts'
import { openTraces } from '../../../dataplane/start/traces.ts'
import { parseOtlpHeaders } from '../../../dataplane/settings/trace-settings.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const SETTINGS = {
  otlp: 'http://127.0.0.1:1/v1/traces',
  otlpHeadersFile: null,
  traceShare: 1,
  nodeName: null,
  upstreamCa: null,
}

describe('openTraces', () => {
  it('opens nothing without a collector', async () => {
    expect(await openTraces({ ...SETTINGS, otlp: null }, createSilentLog())).toBeUndefined()
  })

  it.each([
    ['a file that is not there', undefined, 'cannot read the file'],
    [
      'a line that is no header',
      'authorization: Bearer x\nhush',
      "line 2 must have the form 'Name: value'",
    ],
  ])('refuses %s', async (_, text, message) => {
    await using dir = await makeTempDir()
    const otlpHeadersFile = join(dir.path, 'headers')
    if (text !== undefined) await writeFile(otlpHeadersFile, text)
    const opening = openTraces({ ...SETTINGS, otlpHeadersFile }, createSilentLog())
    await expect(opening).rejects.toThrow(StartError)
    await expect(opening).rejects.toThrow(message)
    await expect(opening).rejects.not.toThrow('hush')
  })
})

describe('parseOtlpHeaders', () => {
  it.each<[string, object | number]>([
    ['', {}],
    ['# a comment\n\n', {}],
    [
      'Authorization: Bearer a:b\r\nX-Tenant:  t ',
      { authorization: 'Bearer a:b', 'x-tenant': 't' },
    ],
    ['x: 1\nX: 2', { x: '2' }],
    ['__proto__: x', JSON.parse('{"__proto__":"x"}') as object],
    ['no header', 1],
    [': value', 1],
    ['a b: value', 1],
    ['x: 1\ny: a\u0000b', 2],
  ])('reads %j', (text, headers) => {
    expect(parseOtlpHeaders(text)).toEqual(headers)
  })
})
