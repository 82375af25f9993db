// The mistakes that people make in YAML, and what `validate` says of each: line, column, severity, code and message.

import { describe, expect, it } from '@jest/globals'
import { diagnosticsOf, type Mistake, withMistake } from '../../support/mistakes.ts'

describe('YAML', () => {
  it.each<Mistake>([
    [
      'an expression without quotes',
      "'{{variables.backend}}'",
      '{{variables.backend}}',
      [
        "15:19 error invalid_datatype Expected a text, got a map of 1 key. YAML reads an unquoted {{…}} as a map: write '{{variables.backend}}', in quotes.",
      ],
    ],
    [
      'an expression without quotes, and more',
      "'{{variables.backend}}'",
      '{{variables.backend}}/',
      [
        "15:19 error invalid_yaml YAML reads an unquoted {{…}} as a map: write '{{variables.backend}}/', in quotes",
      ],
    ],
    [
      'an expression without quotes, in a list',
      '        get:',
      '        accepts: [{{variables.limit}}]\n        get:',
      [
        "12:19 error invalid_datatype Expected a text, got a map of 1 key. YAML reads an unquoted {{…}} as a map: write '{{variables.limit}}', in quotes.",
      ],
    ],
    ...[
      ['a text before an expression', 'a {{variables.limit}}', '40', 'a {{variables.limit}}'],
      [
        'a URL before an expression',
        'http://a/b{{variables.limit}}',
        '40',
        'http://a/b{{variables.limit}}',
      ],
      ['a text with an apostrophe', "it's {{variables.limit}}", '40', "it''s {{variables.limit}}"],
      [
        'a text before an expression, and more members',
        'a{{variables.limit}}, headers: {}',
        '40',
        'a{{variables.limit}}',
      ],
    ].map(([title = '', value, column, quoted]): Mistake => [
      `${title}, in a flow map`,
      /action:\n[^]*$/,
      `action: {type: static, body: ${value}}`,
      [
        `13:${column} error invalid_yaml a text with {{…}} needs quotes in a flow map: write '${quoted}', in quotes`,
      ],
    ]),
    [
      'an expression and more without quotes, in a flow map',
      /action:\n[^]*$/,
      'action: {type: static, body: {{variables.limit}}/x, headers: {}}',
      [
        "13:40 error invalid_yaml YAML reads an unquoted {{…}} as a map: write '{{variables.limit}}/x', in quotes",
      ],
    ],
    [
      'a line that is indented too deep',
      '            host: ',
      '              host: ',
      ['14:19 error invalid_yaml Nested mappings are not allowed in compact mappings'],
    ],
    [
      'two colons in a line',
      'host: api.test',
      'host: api: test',
      ['2:7 error invalid_yaml Nested mappings are not allowed in compact mappings'],
    ],
    [
      'a line that is indented too little',
      '            timeout: 5000',
      '           timeout: 5000',
      ['17:1 error invalid_yaml All mapping items must start at the same column'],
    ],
    [
      'a tab',
      '            timeout: 5000',
      '\t    timeout: 5000',
      ['17:1 error invalid_yaml a tab indents this line: write spaces, as YAML has no tabs here'],
    ],
    [
      'a key twice',
      'host: api.test',
      'host: api.test\nhost: b.test',
      [
        "3:1 error invalid_yaml the key 'host' is there twice, first in line 2: each may be there once",
      ],
    ],
    [
      'a missing colon',
      'host: api.test',
      'host api.test',
      ["2:1 error invalid_yaml a colon is missing in 'host api.test': write 'key: value'"],
    ],
    [
      'an open quote',
      "'{{variables.backend}}'",
      "'{{variables.backend}}",
      ["21:1 error invalid_yaml Missing closing 'quote"],
    ],
    [
      'on',
      'limit: 10',
      'limit: on',
      ["6:10 warning YamlType on is read as true, as kubectl does: write 'on' if it is a text"],
    ],
    [
      '010',
      'limit: 10',
      'limit: 010',
      [
        "6:10 warning YamlType 010 is read as the number 8, as kubectl does: write '010' if it is a text",
      ],
    ],
    [
      'off as a key',
      'limit: 10',
      'off: 10',
      ["6:3 warning YamlType off is read as false, as kubectl does: write 'off' if it is a text"],
    ],
    [
      '12:30',
      'limit: 10',
      'limit: 12:30',
      [
        "6:10 warning YamlType 12:30 is a text here and for kubectl, and a number for other YAML 1.1 readers: write '12:30'",
      ],
    ],
    [
      'an alias without its anchor',
      'limit: 10',
      'limit: *ten',
      ['6:10 error invalid_yaml Unresolved alias (the anchor must be set before the alias): ten'],
    ],
    [
      '@',
      'limit: 10',
      'limit: @a',
      ['6:10 error invalid_yaml Plain value cannot start with reserved character @'],
    ],
    [
      '!',
      'limit: 10',
      'limit: !a b',
      [
        "6:13 warning YamlType !a is read as a type of YAML and left out: write '!a b' if it is a text",
      ],
    ],
    [
      'an open {',
      'limit: 10',
      'limit: {a',
      [
        '7:1 error invalid_yaml Flow map in block collection must be sufficiently indented and end with a }',
      ],
    ],
    [
      'a list among keys',
      'host: api.test',
      '- host: api.test',
      ['2:1 error invalid_yaml Implicit keys need to be on a single line'],
    ],
    [
      '<< of a number',
      'limit: 10',
      'more: {<<: 5}',
      ['1:1 error invalid_yaml Merge sources must be maps or map aliases'],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(expected)
  })
})
