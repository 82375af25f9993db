// Describes an OpenID Connect provider of a realm (behaviour §6, *Provider entry*): its part of the realm record,
// and of the Realm resource.

import {
  CLAIM_SEPARATOR,
  CLAIMS,
  REQUIRE,
  ROLE_FILTER,
  ROLE_MAPPING,
  TEXT_OR_TEXTS,
} from './claim-schemas.ts'
import { type ExtensibleSchema, TEXT, TEXTS } from './realm-notation.ts'

const WEB_ADDRESS = { ...TEXT, pattern: '^https?://' } as const
const SWITCH = { type: 'boolean', default: false, 'x-sensitivity': 'public' } as const

export const OIDC_PROVIDER_SCHEMA = {
  type: 'object',
  description: 'An OpenID Connect provider.',
  properties: {
    issuer: {
      ...WEB_ADDRESS,
      'x-importance': 'known',
      description: 'Issuer; its metadata are discovered below it.',
      'x-explain': 'Issuer URL; endpoints are discovered from it.',
    },
    discovery_url: {
      ...TEXT,
      pattern: '^https?://.*/\\.well-known/',
      'x-importance': 'critical',
      description:
        'Where its metadata are, such as https://id.example.com/.well-known/openid-configuration; below the issuer when left out.',
      'x-explain':
        'URL of its metadata, .well-known path included; below the issuer when absent. They must name the issuer.',
    },
    authorization_endpoint: {
      ...WEB_ADDRESS,
      'x-importance': 'critical',
      description: 'Where browsers log in; discovered when left out.',
      'x-explain': 'Where browsers log in; discovered when absent.',
    },
    token_endpoint: {
      ...WEB_ADDRESS,
      'x-importance': 'critical',
      description: 'Where the gateway gets tokens; discovered when left out.',
      'x-explain':
        'Where the gateway gets tokens; discovered when absent. With all three endpoints and no discoveryUrl nothing is discovered.',
    },
    jwks_uri: {
      ...WEB_ADDRESS,
      'x-importance': 'critical',
      description: 'Where its public keys are; discovered when left out.',
      'x-explain': 'Where its public keys are; discovered when absent.',
    },
    issuer_pattern: {
      ...TEXT,
      pattern: '^https?://[^{}]*\\{tenantid\\}[^{}]*$',
      'x-importance': 'critical',
      description:
        'What its tokens name as issuer where it has many tenants, {tenantid} standing for the tid of the token: https://login.example.com/{tenantid}/v2.0.',
      'x-explain':
        'Issuer of its tokens where it has many tenants, as in its metadata: {tenantid} stands for the tid of the token, which tenants must list.',
    },
    tenants: {
      ...TEXTS,
      'x-importance': 'critical',
      description: 'Tenants whose people may log in, with issuer_pattern: values of tid.',
      'x-explain': 'Tenants whose people may log in, with issuerPattern: values of tid.',
    },
    client_id: {
      ...TEXT,
      'x-importance': 'known',
      description: 'Client id of the gateway with the provider.',
      'x-explain': 'Client id at the provider.',
    },
    client_secret: {
      type: 'string',
      minLength: 1,
      format: 'plain-text',
      'x-sensitivity': 'secret',
      'x-importance': 'known',
      description: 'Client secret of the gateway with the provider.',
      'x-explain': 'Client secret at the provider.',
    },
    redirect_uri: {
      ...WEB_ADDRESS,
      'x-importance': 'known',
      description:
        'Absolute URL of the callback endpoint, such as https://api.example.com/v1/oidc/PROVIDER/callback.',
      'x-explain': 'URL of our callback endpoint, as the provider knows it.',
    },
    scopes: {
      ...TEXTS,
      'x-importance': 'known',
      description: 'Scopes to ask for; openid, profile and email when left out.',
      'x-explain': 'Scopes asked for; openid, profile, email when absent.',
    },
    authid_claim: {
      ...TEXT_OR_TEXTS,
      'x-importance': 'known',
      description:
        'Claim that names the user, of several the first that is there; preferred_username, else sub, when left out.',
      'x-explain':
        'Claim that names the user, of several the first that is there; preferred_username when absent, sub where the token has none.',
    },
    role_claim: {
      ...TEXT_OR_TEXTS,
      'x-importance': 'known',
      description:
        'Claim that holds the roles, or several: a name, names with dots between them, or a JSON pointer. roles when left out.',
      'x-explain':
        'Claim that holds the roles, or several: a name, names with dots between them, or a JSON pointer. roles when absent.',
    },
    group_claim: {
      ...TEXT_OR_TEXTS,
      'x-importance': 'ignorable',
      description:
        'Claim that holds the groups, or several; the groups are the roles when left out.',
      'x-explain': 'Claim that holds the groups, or several; the groups are the roles when absent.',
    },
    role_claim_fallback: {
      ...TEXT,
      'x-importance': 'known',
      description: 'Claim that is read when role_claim is absent; role when left out.',
      'x-explain': 'Used when the role claim is absent; role when absent itself.',
    },
    role_mapping: { ...ROLE_MAPPING, 'x-importance': 'known' },
    role_filter: { ...ROLE_FILTER, 'x-importance': 'critical' },
    claim_separator: { ...CLAIM_SEPARATOR, 'x-importance': 'ignorable' },
    claims: { ...CLAIMS, 'x-importance': 'ignorable' },
    require: { ...REQUIRE, 'x-importance': 'critical' },
    ticket_expiry_secs: {
      type: 'integer',
      minimum: 1,
      maximum: 2_147_483_647,
      default: 2_592_000,
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description: 'Lifetime of tickets in seconds.',
      'x-explain': 'Life of a ticket in seconds; 2592000 when absent.',
    },
    allow_unsafe_http: {
      ...SWITCH,
      'x-importance': 'known',
      description: 'Whether the provider may be spoken to without TLS.',
      'x-explain': 'Accept endpoints without TLS.',
    },
    cookie_domain: {
      type: 'string',
      format: 'cookie-domain',
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description: 'a host name such as example.com, the Domain attribute of the cookies',
      'x-explain': 'Domain attribute of the cookies; none when absent.',
    },
    cookie_same_site: {
      enum: ['lax', 'strict', 'none'],
      default: 'lax',
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description: 'SameSite attribute of the cookies.',
      'x-explain': 'SameSite attribute of the cookies; lax when absent.',
    },
    cookie_http_only: {
      ...SWITCH,
      'x-importance': 'known',
      description: 'Whether the ticket cookie is hidden from scripts; recommended.',
      'x-explain': 'HttpOnly on the ticket cookie; recommended.',
    },
    allowed_redirect_origins: {
      ...TEXTS,
      items: {
        ...TEXT,
        format: 'redirect-origin',
        description:
          'an origin with its scheme and without a path, such as https://app.example.com, or * alone for every origin',
      },
      'x-importance': 'known',
      description: 'Origins that redirect_uri parameters may lead to; * allows all.',
      'x-explain': 'Origins beside our own that a login may return to.',
    },
    end_session_endpoint: {
      ...WEB_ADDRESS,
      'x-importance': 'known',
      description: 'Logout endpoint of the provider; discovered when left out.',
      'x-explain': 'Where a logout goes; discovered when absent.',
    },
    logout_from_anywhere: {
      ...SWITCH,
      'x-importance': 'ignorable',
      description:
        'Whether prefetches, and images and scripts of other sites, log out too; otherwise they change nothing.',
      'x-explain':
        'Prefetches, and images and scripts of other sites, log out too; otherwise they change nothing.',
    },
    token_endpoint_auth_method: {
      enum: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'none'],
      'x-sensitivity': 'public',
      'x-importance': 'known',
      description: 'How the client authenticates at the token endpoint; discovered when left out.',
      'x-explain': 'How the gateway authenticates at the provider; discovered when absent.',
    },
    ca: {
      ...TEXT,
      format: 'certificates',
      'x-importance': 'known',
      description: 'CA certificates of the provider, PEM (-----BEGIN CERTIFICATE-----).',
      'x-explain': 'PEM of more CAs, for the provider.',
    },
  },
  if: { required: ['issuer_pattern'] },
  then: { required: ['tenants'] },
  required: ['issuer', 'client_id', 'client_secret', 'redirect_uri'],
  additionalProperties: false,
} as const satisfies ExtensibleSchema
