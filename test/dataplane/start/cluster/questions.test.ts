import { describe, expect, it } from '@jest/globals'
import type { ToPrimary } from '../../../../dataplane/start/cluster/message.ts'
import { askPrimary } from '../../../../dataplane/start/cluster/questions.ts'
import { RelayedState } from '../../../../dataplane/shared/relayed-state.ts'
import { SharedStateError } from '../../../../dataplane/shared/shared-state.ts'

describe('a primary that does not reply', () => {
  it('is unavailable for callers that wait, and may answer too late', async () => {
    const sent: ToPrimary[] = []
    const line = askPrimary((message) => sent.push(message), 20)
    const state = new RelayedState((call) => line.share(call), Date.now)
    await expect(state.takeOnce('oidc-state:1', 60)).rejects.toBeInstanceOf(SharedStateError)
    expect(sent).toMatchObject([{ kind: 'shared', ask: 1, call: { kind: 'takeOnce' } }])
    line.receive({ kind: 'shared', ask: 1, reply: { ok: true, value: true } })

    const second = state.takeOnce('oidc-state:2', 60)
    line.receive({ kind: 'shared', ask: 2, reply: { ok: true, value: true } })
    expect(await second).toBe(true)
    await state.close()
  })
})
