// A name and a password in, nothing out if they are right: what clients and resource owners have in common.

import { OAuthRefusal } from './refusal.ts'
import type { Exchange } from './room.ts'

/**
 * @param refusal for whoever is wrong; `damped` when it is wrong too often
 * @throws OAuthRefusal
 */
export const checkPassword = async (
  { room, request }: Exchange,
  username: string,
  password: string,
  refusal: (reason: 'damped' | undefined) => OAuthRefusal,
): Promise<void> => {
  const { realmUri, address, requestId } = request
  const caller = { address, requestId }
  const verdict = await room.verifyPassword(realmUri, username, password, caller)
  if (verdict === 'right') return
  if (verdict !== 'busy') throw refusal(verdict === 'damped' ? verdict : undefined)
  throw new OAuthRefusal('temporarily_unavailable', 'busy', 'Too many logins at once; try again')
}
