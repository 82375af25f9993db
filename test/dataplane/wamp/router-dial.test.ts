import { describe, expect, it } from '@jest/globals'
import { createRouterDial } from '../../../dataplane/wamp/router-dial.ts'
import { createCertificateAuthority } from '../../support/certificates.ts'

describe('createRouterDial', () => {
  it.each([[[]], [[createCertificateAuthority('router CA').cert]]])(
    'all connections have one TLS context',
    (extraCa) => {
      const { secureContext } = createRouterDial(extraCa)
      expect(secureContext()).toBe(secureContext())
    },
  )
})
