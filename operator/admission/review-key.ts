// Derives a key from the private key of the webhook's certificate, by which reviews of the API server are recognised.
// It is part of the path in the webhook configuration, which only people trusted with the cluster may read. A request
// without it may come from everyone who can reach the port, and gets no information about other resources.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** @returns 32 digits, as a part of the path of a webhook may be */
const reviewKeyOf = (privateKey: string): string =>
  createHmac('sha256', privateKey).update('svc-gateway reviews').digest('hex').slice(0, 32)

export class ReviewKeys {
  readonly #privateKey: () => string | undefined
  #current: { readonly of: string; readonly key: string } | undefined
  /** The configuration is updated shortly after a new certificate. */
  #previous: string | undefined

  /** @param privateKey PEM; undefined: there is none (yet) */
  constructor(privateKey: () => string | undefined) {
    this.#privateKey = privateKey
  }

  get current(): string | undefined {
    const of = this.#privateKey()
    if (of !== undefined && of !== this.#current?.of) {
      this.#previous = this.#current?.key
      this.#current = { of, key: reviewKeyOf(of) }
    }
    return this.#current?.key
  }

  has(word: string): boolean {
    return [this.current, this.#previous].some((key) => key !== undefined && isSame(key, word))
  }
}

const isSame = (left: string, right: string): boolean => {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The path without the key that it ends in. @example withoutReviewKey(`/validate/${key}`) // '/validate' */
export const withoutReviewKey = (path: string): string => path.replace(/\/[0-9a-f]{32}$/, '')
