// Defines the people that the provider knows, and the claims of their tokens.

export interface IdpUser {
  readonly sub: string
  /** What they log in with, and `preferred_username`. */
  readonly username: string
  readonly name: string
  readonly roles: readonly string[]
  /** More claims of the ID token. */
  readonly claims?: Readonly<Record<string, unknown>>
}

export const DEMO_USERS: readonly IdpUser[] = [
  { sub: 'u-alice', username: 'alice', name: 'Alice', roles: ['customer', 'admin'] },
  { sub: 'u-bob', username: 'bob', name: 'Bob', roles: ['customer'] },
]

/** Claims for the ID token; `sub` is required of a provider. */
export interface AccountClaims {
  readonly sub: string
  readonly [claim: string]: unknown
}

export const claimsOf = ({ sub, username, name, roles, claims }: IdpUser): AccountClaims => ({
  preferred_username: username,
  name,
  email: `${username}@example.com`,
  email_verified: true,
  roles,
  ...claims,
  sub,
})
