import { describe, expect, it } from '@jest/globals'
import { fence } from '../../../dataplane/store/fencing.ts'
import { readSyncCall } from '../../../dataplane/store/sync-call.ts'

const lazy = (entry: unknown) => () => entry

describe('readSyncCall', () => {
  const base = { managedBy: 'op', epoch: 0, base: 'b' }

  it('fills what is left out', () => {
    const read = readSyncCall(base, lazy)
    const none = { put: [], delete: [] }
    expect(read).toEqual({ ok: true, call: { ...base, realms: none, specs: none } })
  })

  it('keeps what is there', () => {
    const read = readSyncCall(
      { ...base, complete: 'c', realms: { put: [1], delete: ['r'] }, specs: { put: [2, 3] } },
      lazy,
    )
    const call = read.ok ? read.call : undefined
    expect(call?.complete).toBe('c')
    expect(call?.realms.delete).toEqual(['r'])
    expect(
      [...(call?.realms.put ?? []), ...(call?.specs.put ?? [])].map((entry) => entry()),
    ).toEqual([1, 2, 3])
  })

  it.each([
    [[], [' invalid_datatype']],
    [null, [' invalid_datatype']],
    [
      {},
      [
        '/managedBy missing_required_value',
        '/epoch missing_required_value',
        '/base missing_required_value',
      ],
    ],
    [{ ...base, managedBy: '' }, ['/managedBy invalid_datatype']],
    [{ ...base, managedBy: 'x'.repeat(300) }, ['/managedBy invalid_datatype']],
    [{ ...base, epoch: -1 }, ['/epoch invalid_datatype']],
    [{ ...base, epoch: 2 ** 53 }, ['/epoch invalid_datatype']],
    [{ ...base, epoch: '1' }, ['/epoch invalid_datatype']],
    [{ ...base, complete: 1 }, ['/complete invalid_datatype']],
    [{ ...base, specs: [] }, ['/specs invalid_datatype']],
    [{ ...base, specs: { put: {} } }, ['/specs/put invalid_datatype']],
    [{ ...base, realms: { delete: ['a', 1] } }, ['/realms/delete/1 invalid_datatype']],
  ])('refuses %j', (body, faults) => {
    const read = readSyncCall(body, lazy)
    expect(read.ok ? [] : read.problems.map(({ path, code }) => `${path} ${code}`)).toEqual(faults)
  })

  it('sees no prototype member', () => {
    const body = JSON.parse(
      '{"__proto__": {"managedBy": "op", "epoch": 1, "base": "b"}}',
    ) as unknown
    expect(readSyncCall(body, lazy).ok).toBe(false)
  })
})

describe('fence', () => {
  const ownership = { manager: 'op', epoch: 5, complete: false }

  it.each([
    ['op', 5, 'root', { pass: true, epoch: 5 }],
    ['op', 6, 'root', { pass: true, epoch: 6 }],
    ['op', 4, 'root', { pass: false, epoch: 5, refusal: { reason: 'stale_epoch', epoch: 5 } }],
    [
      'op',
      6,
      'old',
      { pass: false, epoch: 6, refusal: { reason: 'stale_base', rootDigest: 'root' } },
    ],
    ['op', 4, 'old', { pass: false, epoch: 5, refusal: { reason: 'stale_epoch', epoch: 5 } }],
    ['no', 9, 'root', { pass: false, epoch: 5, refusal: { reason: 'not_owner', manager: 'op' } }],
  ])('%s in epoch %d on %s', (managedBy, epoch, base, expected) => {
    expect(fence(ownership, { managedBy, epoch, base }, () => 'root')).toEqual(expected)
  })
})
