import { describe, expect, it } from '@jest/globals'
import { STATUS_CODES } from '../../../language/compile/status-codes.ts'

describe('STATUS_CODES', () => {
  it.each([
    ['svc.error.already_exists', 400],
    ['svc.error.not_found', 404],
    ['svc.error.bad_gateway', 504],
    ['svc.error.http_gateway.invalid_expression', 500],
    ['svc.error.timeout', 504],
    ['svc.error.overloaded', 503],
    ['wamp.error.authorization_failed', 500],
    ['wamp.error.canceled', 400],
    ['wamp.error.close_realm', 500],
    ['wamp.close.close_realm', 500],
    ['wamp.error.disclose_me_not_allowed', 400],
    ['wamp.error.disclose_me.not_allowed', 400],
    ['wamp.error.goodbye_and_out', 500],
    ['wamp.close.goodbye_and_out', 500],
    ['wamp.error.invalid_argument', 400],
    ['wamp.error.invalid_uri', 400],
    ['wamp.error.net_failure', 502],
    ['wamp.error.network_failure', 502],
    ['wamp.error.not_authorized', 403],
    ['wamp.error.no_eligible_callee', 502],
    ['wamp.error.no_such_procedure', 501],
    ['wamp.error.no_such_realm', 502],
    ['wamp.error.no_such_registration', 502],
    ['wamp.error.no_such_role', 400],
    ['wamp.error.no_such_session', 500],
    ['wamp.error.no_such_subscription', 502],
    ['wamp.error.option_disallowed_disclose_me', 400],
    ['wamp.error.option_disallowed.disclose_me', 400],
    ['wamp.error.option_not_allowed', 400],
    ['wamp.error.procedure_already_exists', 400],
    ['wamp.error.system_shutdown', 500],
    ['wamp.close.system_shutdown', 500],
    ['wamp.error.timeout', 504],
  ])('%s is %i', (uri, status) => {
    expect(STATUS_CODES[uri]).toBe(status)
  })

  it('maps what an upstream answers to that very status, and nothing beyond', () => {
    const upstream = Object.entries(STATUS_CODES).filter(([uri]) => uri.includes('.upstream.'))
    expect(upstream).toHaveLength(200)
    for (const [uri, status] of upstream) expect(uri).toBe(`svc.error.upstream.${status}`)
    expect(Math.min(...upstream.map(([, status]) => status))).toBe(400)
    expect(Math.max(...upstream.map(([, status]) => status))).toBe(599)
  })

  it('has 34 further entries, cannot be changed and knows no prototype', () => {
    expect(Object.keys(STATUS_CODES)).toHaveLength(234)
    expect(Object.isFrozen(STATUS_CODES)).toBe(true)
    expect(['constructor', '__proto__', 'toString'].map((name) => STATUS_CODES[name])).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
