// Recognises the authentication schemes that authenticate a connection and not a request: whatever is sent on it later
// counts as the same user's (RFC 4559 §6), so that it may serve no other client.

/** In a field of credentials or in a list of challenges. */
export const CONNECTION_SCHEME = /(?:^|,)[ \t]*(?:negotiate|ntlm)(?![!#$%&'*+.^_`|~0-9a-z-])/i
