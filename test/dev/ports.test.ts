// Which ports the playground takes when some are not free.

import { describe, expect, it } from '@jest/globals'
import { choosePorts, USUAL_PORTS } from '../../dev/ports.ts'

const allBut = (...taken: readonly number[]) => {
  return (port: number) => Promise.resolve(!taken.includes(port))
}

describe('choosePorts', () => {
  it('takes the usual ones where they are free', async () => {
    expect(await choosePorts(allBut())).toEqual({ ports: USUAL_PORTS, taken: [] })
  })

  it('moves all of them when one is taken, and says which', async () => {
    expect(await choosePorts(allBut(18090, 18181))).toEqual({
      ports: {
        public: 18280,
        management: 18281,
        status: 18285,
        backend: 18290,
        router: 18291,
        idp: 18292,
        page: 18293,
      },
      taken: [18090],
    })
  })

  it('gives up in words', async () => {
    const choice = await choosePorts(() => Promise.resolve(false))
    expect('error' in choice && choice.error).toContain(
      '18080, 18081, 18085, 18090, 18091, 18092, 18093 are taken',
    )
  })
})
