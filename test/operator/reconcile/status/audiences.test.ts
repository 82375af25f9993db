// Which data planes a document is for is kept for as long as the document asks for them.

import { describe, expect, it } from '@jest/globals'
import { Audiences } from '../../../../operator/reconcile/status/audiences.ts'
import type { LabelSelector } from '../../../../operator/resource/resource.ts'
import { collectReleased } from '../../../support/collect-released.ts'

const EDITS = 20

const selectorOf = (edit: number): LabelSelector => ({ matchLabels: { edit: String(edit) } })

describe('the audience of a document', () => {
  it('is one object for all documents of a namespace with the same selector', () => {
    const audiences = new Audiences()
    const first = audiences.of({ namespace: 'a', selector: selectorOf(1) })
    expect(audiences.of({ namespace: 'a', selector: selectorOf(1) })).toBe(first)
    expect(audiences.of({ namespace: 'b', selector: selectorOf(1) })).not.toBe(first)
    expect(audiences.of({ namespace: 'a' })).not.toBe(first)
  })

  it('is not kept once the document selects others', async () => {
    const audiences = new Audiences()
    const former = Array.from(
      { length: EDITS },
      (_, edit) => new WeakRef(audiences.of({ namespace: 'a', selector: selectorOf(edit) })),
    )
    const last = audiences.of({ namespace: 'a', selector: selectorOf(EDITS) })
    await collectReleased()
    expect(former.filter((each) => each.deref() !== undefined)).toHaveLength(0)
    expect(audiences.of({ namespace: 'a', selector: selectorOf(EDITS) })).toBe(last)
  })
})
