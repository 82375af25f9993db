import { describe, expect, it } from '@jest/globals'
import type { LeaseFacts } from '../../../operator/kubernetes/leader-election/leadership.ts'
import { leaderRecord, type LeasePlace } from '../../../operator/status/leader-record.ts'

const SINCE = Date.UTC(2026, 10, 23, 4, 5, 6)
const PLACE: LeasePlace = { namespace: 'gateways', lease: 'svc-operator', statusPort: 18085 }

const facts = (more: Partial<LeaseFacts> = {}): LeaseFacts => ({
  identity: 'operator-7d4f-a_00000001',
  isLeading: false,
  hasLooked: true,
  holder: 'operator-7d4f-b_00000002',
  heldSinceMs: SINCE,
  isExpired: false,
  epoch: 4,
  renewedAtMs: undefined,
  failure: undefined,
  ...more,
})

const LEADER = { name: 'operator-7d4f-b', namespace: 'gateways', since: '2026-11-23T04:05:06.000Z' }
const COMMAND = 'kubectl port-forward -n gateways pod/operator-7d4f-b 18085'
const LAST = '; the last holder that was seen is operator-7d4f-b'
const STANDBY = 'this replica is a standby and does not call gateways; '

describe('who leads', () => {
  it('the leader names itself, and has nothing to explain', () => {
    const own = facts({ isLeading: true, holder: 'operator-7d4f-a_00000001' })
    expect(leaderRecord(own, PLACE)).toEqual({
      role: 'leader',
      leader: { ...LEADER, name: 'operator-7d4f-a' },
    })
  })

  it('a standby names the leader, and the command that reaches it', () => {
    expect(leaderRecord(facts(), PLACE)).toEqual({
      role: 'standby',
      leader: { ...LEADER, command: COMMAND },
      message: `${STANDBY}operator-7d4f-b leads and answers: ${COMMAND}`,
    })
  })

  it.each<[string, Partial<LeasePlace>, Partial<LeaseFacts>]>([
    ['its pages are at no port', { statusPort: undefined }, {}],
    ['its port is the first that is free', { statusPort: 0 }, {}],
    ['its name is none of a Pod', {}, { holder: 'My Laptop_00000002' }],
    ['it has no random end', {}, { holder: 'operator-7d4f-b' }],
    ['its name ends the command', {}, { holder: 'a; rm -rf ~_00000002' }],
    ['its name is an option', {}, { holder: '--kubeconfig=x_00000002' }],
    ['its name has a second line', {}, { holder: 'a\nb_00000002' }],
    ['its name is longer than any', {}, { holder: `${'a'.repeat(254)}_00000002` }],
  ])('there is no command where %s', (_title, place, more) => {
    const { leader, message } = leaderRecord(facts(more), { ...PLACE, ...place })
    expect(leader).not.toHaveProperty('command')
    expect(message).toBe(`${STANDBY}${leader?.name ?? ''} leads and answers`)
  })

  it.each([
    ['a line of its own', 'a\n\u001b[2Jb\u202ec_00000002', 'a [2Jb c'],
    ['too many characters', 'x'.repeat(100_000), 'x'.repeat(253)],
    ['half a character', `${'x'.repeat(252)}😀`, 'x'.repeat(252)],
  ])('a holder with %s is shown in one short line', (_title, holder, name) => {
    expect(leaderRecord(facts({ holder }), PLACE).leader).toMatchObject({ name })
  })

  it('a Lease that does not say since when is no fault', () => {
    const { leader } = leaderRecord(facts({ heldSinceMs: undefined }), PLACE)
    expect(leader).toEqual({ name: LEADER.name, namespace: 'gateways', command: COMMAND })
  })

  it.each<[string, Partial<LeaseFacts>, string]>([
    [
      'the Lease has expired',
      { isExpired: true },
      `no replica leads: the Lease gateways/svc-operator has expired${LAST}. A running replica takes it within seconds`,
    ],
    [
      'it was given back, or is not there',
      { holder: '' },
      'no replica leads: the Lease gateways/svc-operator has no holder. A running replica takes it within seconds',
    ],
    [
      'this replica holds it, and waits for an earlier leader that may still act',
      { holder: 'operator-7d4f-a_00000001' },
      'no replica leads yet: this replica holds the Lease gateways/svc-operator, and its leader term begins in seconds',
    ],
    [
      'it was not looked at yet',
      { hasLooked: false, holder: '' },
      'it is not known who leads: the Lease gateways/svc-operator has not been read yet',
    ],
    [
      'it can not be read, however old what was read is',
      { failure: 'the API server\nis away', isExpired: true },
      `it is not known who leads: the Lease gateways/svc-operator can't be read or written: the API server is away${LAST}`,
    ],
  ])('no replica is named where %s', (_title, more, message) => {
    expect(leaderRecord(facts(more), PLACE)).toEqual({ role: 'standby', leader: null, message })
  })

  it('the failure of a Lease is cut', () => {
    const { message = '' } = leaderRecord(facts({ failure: 'x'.repeat(9_999) }), PLACE)
    expect(message.length).toBeLessThan(512)
  })
})
