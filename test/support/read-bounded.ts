// Reads a whole body through the bounds that responses of gateways have.

import { type BodyLimits, BoundedText } from '../../operator/fleet/client/bounded-body.ts'

/** @throws ResponseError beyond the bound, or where the budget is used up; what the body breaks off with */
export const readBounded = async (
  body: AsyncIterable<Uint8Array>,
  limits: BodyLimits,
): Promise<string> => {
  const text = new BoundedText(limits)
  try {
    for await (const chunk of body) {
      const error = text.take(chunk)
      if (error !== undefined) throw error
    }
    return text.toString()
  } finally {
    text.release()
  }
}
