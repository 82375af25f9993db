// Recognises secrets in what is logged or shown to people: by the name that they stand under, and within a sentence.

/**
 * Names are compared without case, `-`, `_` and blanks.
 * @example isSecretName('X-Api-Key') // true
 */
export const isSecretName = (name: string): boolean => {
  const plain = name.toLowerCase().replaceAll(/[-_ ]/g, '')
  return SECRET_NAMES.has(plain) || SECRET_ENDINGS.some((ending) => plain.endsWith(ending))
}

/** Names that always hide what stands under them, in the compared form. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'cookies',
  'setcookie',
  'credentials',
  'keysha256',
  'apikeys',
  'privatekey',
  'privatekeys',
  'signingkey',
  'signingkeys',
  'statekeys',
  'codeverifier',
  'ticket',
  'tokens',
  'secrets',
])

/** `client_secret`, `X-CSRF-Token`, `admin_password_hash`: a secret by the end of its name. */
const SECRET_ENDINGS = ['password', 'passwordhash', 'passphrase', 'secret', 'token', 'apikey']

/**
 * The text without userinfo of URLs and without credentials of an Authorization header.
 * @example maskCredentials('http://me:pw@a.test', '…') // 'http://…@a.test'
 */
export const maskCredentials = (text: string, mask: string): string =>
  text
    .replaceAll(/:\/\/[^/?#@\s]{1,1024}@/g, `://${mask}@`)
    .replaceAll(/\b(bearer|basic) [\w.~+/=-]{8,}/gi, `$1 ${mask}`)
