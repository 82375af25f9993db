// Tells whether a text is a name as the API server gives them to objects.

/** A DNS-1123 subdomain of at most 253 characters. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/

/**
 * Only such a name is made a part of a path or a selector: anything else could be more than a name there.
 * @example isObjectName('orders-v1') // true
 */
export const isObjectName = (text: string): boolean => NAME.test(text)
