// The loose rule for WAMP URIs: a text in, whether a router may be given it out. Never asks for the
// strict rule, which real realms do not keep.

/**
 * Whether a text is a WAMP URI by the loose rule (WAMP, *URIs*): parts separated by dots, none empty,
 * no blank and no `#` in them. Linear in the length of the text.
 * @example isWampUri('com.acme.add') // true
 * @example isWampUri('com..add') // false
 */
export const isWampUri = (text: string): boolean =>
  text !== '' &&
  !text.startsWith('.') &&
  !text.endsWith('.') &&
  !text.includes('..') &&
  !/[\s#]/.test(text)
