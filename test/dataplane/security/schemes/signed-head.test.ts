// What the head of a signed request must say: everything once, in its form, before a byte of the body is read.

import { describe, expect, it } from '@jest/globals'
import { isSigned, readSignedHead } from '../../../../dataplane/security/schemes/signed-head.ts'
import { PRESETS, signatureFormOf } from '../../../../language/realm/signatures.ts'

const { standard, github, stripe, crossbar } = PRESETS
const MAC = Buffer.alloc(32, 7)
const BASE64 = MAC.toString('base64')
const HEX = MAC.toString('hex')
const NOW = '1700000000'
/** Slack's. */
const own = signatureFormOf({
  secrets: ['s'],
  header: 'X-Slack-Signature',
  prefix: 'v0=',
  timestamp: 'X-Slack-Request-Timestamp',
  signs: 'v0:{timestamp}:{body}',
})

const headers = (...raw: readonly string[]) => ({ rawHeaders: raw, query: '' })
const query = (text: string) => ({ rawHeaders: [], query: text })

const ID = ['webhook-id', 'msg_1'] as const
const TIME = ['webhook-timestamp', NOW] as const
const SIGNED = ['webhook-signature', `v1,${BASE64}`] as const
const CROSSBAR = `key=app&timestamp=2023-11-14T22:13:20.000Z&seq=1&nonce=42&signature=`

describe('a signed head', () => {
  it.each([
    [standard, headers(...ID, ...TIME, ...SIGNED), { id: 'msg_1', timestamp: NOW }],
    [standard, headers('Webhook-ID', 'msg_1', ...TIME, ...SIGNED), { id: 'msg_1', timestamp: NOW }],
    [github, headers('X-Hub-Signature-256', `sha256=${HEX}`), {}],
    [github, headers('X-Hub-Signature-256', `sha256=${HEX.toUpperCase()}`), {}],
    [stripe, headers('stripe-signature', `t=${NOW},v1=${HEX},v0=${HEX}`), { timestamp: NOW }],
    [
      own,
      headers('x-slack-signature', `v0=${HEX}`, 'x-slack-request-timestamp', NOW),
      { timestamp: NOW },
    ],
    [
      crossbar,
      query(`${CROSSBAR}${encodeURIComponent(MAC.toString('base64url'))}%3D`),
      { key: 'app', timestamp: '2023-11-14T22:13:20.000Z', seq: '1', nonce: '42' },
    ],
  ])('of %j is read', (form, parts, fields) => {
    const seconds = form.fields['timestamp'] === undefined ? undefined : 1_700_000_000
    expect(readSignedHead(form, 'app', parts)).toEqual({ signatures: [MAC], fields, seconds })
    expect(isSigned(form, parts)).toBe(true)
  })

  it.each([
    [standard, headers(...ID, ...TIME)],
    [github, headers('x-hub-signature', `sha1=${HEX}`)],
    [crossbar, query('key=app')],
  ])('of %j without a signature is none', (form, parts) => {
    expect(readSignedHead(form, 'app', parts)).toBe('absent')
    expect(isSigned(form, parts)).toBe(false)
  })

  const other = Buffer.alloc(32, 8)

  it.each([
    [`v1,${BASE64} v1,${other.toString('base64')}`, 2],
    [`v1a,${BASE64} v2,xyz  v1,${BASE64}`, 1],
    [Array.from({ length: 16 }, () => `v1,${BASE64}`).join(' '), 16],
  ])('%# may have several signatures, and versions that are not known here', (text, count) => {
    const head = readSignedHead(standard, 'app', headers(...ID, ...TIME, 'webhook-signature', text))
    expect(typeof head === 'string' ? head : head.signatures.length).toBe(count)
  })

  it.each<[string, typeof standard, { rawHeaders: readonly string[]; query: string }]>([
    [
      'no signature of a known version',
      standard,
      headers(...ID, ...TIME, 'webhook-signature', `v2,${BASE64}`),
    ],
    ['an empty signature', standard, headers(...ID, ...TIME, 'webhook-signature', '')],
    [
      'a signature of another length',
      standard,
      headers(...ID, ...TIME, 'webhook-signature', `v1,${BASE64.slice(4)}`),
    ],
    [
      'a signature in hex for one in base64',
      standard,
      headers(...ID, ...TIME, 'webhook-signature', `v1,${HEX}`),
    ],
    ['the prefix in capitals', github, headers('x-hub-signature-256', `SHA256=${HEX}`)],
    ['no prefix', github, headers('x-hub-signature-256', HEX)],
    [
      'two headers of signatures',
      github,
      headers('x-hub-signature-256', `sha256=${HEX}`, 'X-HUB-SIGNATURE-256', `sha256=${HEX}`),
    ],
    [
      'a header that servers read as a second one',
      standard,
      headers(...ID, ...TIME, ...SIGNED, 'webhook_signature', 'v1,x'),
    ],
    [
      'an id that servers read as a second one',
      standard,
      headers(...ID, ...TIME, ...SIGNED, 'Webhook_Id', 'msg_2'),
    ],
    [
      'only a header that servers read as one',
      github,
      headers('x_hub_signature_256', `sha256=${HEX}`),
    ],
    ['a signature of 64 KiB', github, headers('x-hub-signature-256', `sha256=${HEX.repeat(1024)}`)],
    [
      'more signatures than anybody sends',
      standard,
      headers(...ID, ...TIME, 'webhook-signature', `v1,${BASE64} `.repeat(17).trim()),
    ],
    ['no id', standard, headers(...TIME, ...SIGNED)],
    ['two ids', standard, headers(...ID, ...ID, ...TIME, ...SIGNED)],
    ['an empty id', standard, headers('webhook-id', '', ...TIME, ...SIGNED)],
    [
      'an id of 257 characters',
      standard,
      headers('webhook-id', 'm'.repeat(257), ...TIME, ...SIGNED),
    ],
    [
      'an id with the separator, so that a part of it could be the time',
      standard,
      headers('webhook-id', `msg.${NOW}`, ...TIME, ...SIGNED),
    ],
    ['an id with a blank', standard, headers('webhook-id', 'a b', ...TIME, ...SIGNED)],
    ['no timestamp', standard, headers(...ID, ...SIGNED)],
    ['two timestamps', standard, headers(...ID, ...TIME, ...TIME, ...SIGNED)],
    [
      'a timestamp that is no number',
      standard,
      headers(...ID, 'webhook-timestamp', 'now', ...SIGNED),
    ],
    [
      'a timestamp with a sign',
      standard,
      headers(...ID, 'webhook-timestamp', `+${NOW}`, ...SIGNED),
    ],
    [
      'a timestamp with a fraction',
      standard,
      headers(...ID, 'webhook-timestamp', `${NOW}.5`, ...SIGNED),
    ],
    ['a timestamp as exponent', standard, headers(...ID, 'webhook-timestamp', '17e8', ...SIGNED)],
    [
      'a timestamp that overflows',
      standard,
      headers(...ID, 'webhook-timestamp', '9'.repeat(40), ...SIGNED),
    ],
    [
      'a timestamp of milliseconds',
      standard,
      headers(...ID, 'webhook-timestamp', `${NOW}000`, ...SIGNED),
    ],
    ['two times in one header', stripe, headers('stripe-signature', `t=${NOW},t=1,v1=${HEX}`)],
    ['no time in its header', stripe, headers('stripe-signature', `v1=${HEX}`)],
    [
      'another key',
      crossbar,
      query(`${CROSSBAR.replace('key=app', 'key=other')}${MAC.toString('base64url')}`),
    ],
    [
      'two signatures in the query',
      crossbar,
      query(`${CROSSBAR}${MAC.toString('base64url')}&signature=x`),
    ],
    [
      'a number that is none',
      crossbar,
      query(`${CROSSBAR.replace('seq=1', 'seq=1a')}${MAC.toString('base64url')}`),
    ],
    [
      'a time that is none',
      crossbar,
      query(`${CROSSBAR.replace('T22', 'T99')}${MAC.toString('base64url')}`),
    ],
    [
      'a time in another zone',
      crossbar,
      query(`${CROSSBAR.replace('000Z', '000%2B01:00')}${MAC.toString('base64url')}`),
    ],
  ])('with %s is malformed', (_, form, parts) => {
    expect(readSignedHead(form, 'app', parts)).toBe('malformed')
  })
})
