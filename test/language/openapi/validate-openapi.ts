// Validates OpenAPI documents with two implementations that are not ours: the official JSON Schema, and the rules of
// Redocly, which know what the schema cannot say.

import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'

const RULES = {
  struct: 'error',
  'spec-strict-refs': 'error',
  'no-identical-paths': 'error',
  'no-path-trailing-slash': 'error',
  'no-server-trailing-slash': 'error',
  'no-server-variables-empty-enum': 'error',
  'no-undefined-server-variable': 'error',
  'no-unresolved-refs': 'error',
  'operation-operationId': 'error',
  'operation-operationId-unique': 'error',
  'operation-operationId-url-safe': 'error',
  'operation-parameters-unique': 'error',
  'path-declaration-must-exist': 'error',
  'path-not-include-query': 'error',
  'path-parameters-defined': 'error',
  'security-defined': 'error',
} as const

/** Compiles the schema once. */
const validator = new Validator()
const config = createConfig({ rules: RULES })

/** What they object to. */
export const validateOpenApi = async (text: string): Promise<readonly string[]> => {
  const { valid, errors } = await validator.validate(JSON.parse(text) as Record<string, unknown>)
  const linted = await lintFromString({ source: text, config: await config })
  return [
    ...(valid ? [] : [JSON.stringify(errors)]),
    ...linted.map(
      ({ ruleId, message, location }) =>
        `${ruleId}: ${message} ${location.map(({ pointer }) => pointer).join()}`,
    ),
  ]
}
