import { describe, expect, it } from '@jest/globals'
import { scryptSync } from 'node:crypto'
import { hashPassword } from '../../../../dataplane/security/passwords/hash-password.ts'

describe('hashPassword', () => {
  it('makes a PHC string that scrypt makes again', async () => {
    const text = await hashPassword('wonderland')
    const [, name, parameters, salt = '', hash] = text.split('$')
    expect([name, parameters]).toEqual(['scrypt', 'ln=14,r=8,p=1'])
    expect(text).not.toContain('=$')
    const again = scryptSync('wonderland', Buffer.from(salt, 'base64'), 32, {
      N: 16_384,
      r: 8,
      p: 1,
    })
    expect(hash).toBe(again.toString('base64').replaceAll('=', ''))
  })

  it('is another one each time, and the same with the same salt', async () => {
    expect(await hashPassword('a')).not.toBe(await hashPassword('a'))
    const salt = Buffer.alloc(16)
    expect(await hashPassword('é', salt)).toBe(await hashPassword('é', salt))
    expect(await hashPassword('é', salt)).not.toBe(await hashPassword('e', salt))
  })

  it('says what is wrong', async () => {
    await expect(hashPassword('a', 7 as unknown as Buffer<ArrayBuffer>)).rejects.toThrow()
  })
})
