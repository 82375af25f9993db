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
      [
        '15:15 error invalid_yaml this line is indented deeper than the one above, which has a value already: align it',
      ],
    ],
    [
      'two colons in a line',
      'host: api.test',
      'host: api: test',
      [
        "2:7 error invalid_yaml a text that contains ': ' needs quotes: write 'api: test', or put what is behind the first colon on a line of its own",
      ],
    ],
    [
      'a line that is indented too little',
      '            timeout: 5000',
      '           timeout: 5000',
      [
        '17:12 error invalid_yaml this line is indented differently from its neighbours: align it with them',
      ],
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
      ["3:1 error invalid_yaml the key 'host' is there twice, in line 2: each may be there once"],
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
      ["15:19 error invalid_yaml the text that begins here has no closing '"],
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
      [
        "6:10 error invalid_yaml *ten refers to an anchor &ten, which is not there: write '*ten', in quotes, if it is a text",
      ],
    ],
    [
      '*',
      'limit: 10',
      'limit: *',
      [
        "6:10 error invalid_yaml * begins a reference to an anchor: write '*', in quotes, if it is a text",
      ],
    ],
    [
      '&',
      'limit: 10',
      'limit: &',
      [
        "6:10 error invalid_yaml & begins an anchor, and has no name: write '&', in quotes, if it is a text",
      ],
    ],
    [
      '@',
      'limit: 10',
      'limit: @a',
      ["6:10 error invalid_yaml a text that begins with @ needs quotes: write '@a'"],
    ],
    [
      '%',
      'limit: 10',
      'limit: %a',
      ["6:10 error invalid_yaml a text that begins with % needs quotes: write '%a'"],
    ],
    [
      '`',
      'limit: 10',
      'limit: `a`',
      ["6:10 error invalid_yaml a text that begins with ` needs quotes: write '`a`'"],
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
      '>= ',
      'limit: 10',
      'limit: >= 5',
      ["6:10 error invalid_yaml a text that begins with > needs quotes: write '>= 5'"],
    ],
    [
      'an open {',
      'limit: 10',
      'limit: {a',
      [
        '6:10 error invalid_yaml the { that is opened here is not closed, or its lines are not indented; write it in quotes, if it is a text',
      ],
    ],
    [
      'an open [',
      'limit: 10',
      'limit: [a',
      [
        '6:10 error invalid_yaml the [ that is opened here is not closed, or its lines are not indented; write it in quotes, if it is a text',
      ],
    ],
    [
      'a list among keys',
      'host: api.test',
      '- host: api.test',
      [
        '2:1 error invalid_yaml an item of a list stands among the keys of a map here: leave out the -, or indent it below its key',
      ],
    ],
    [
      '<< of a number',
      'limit: 10',
      'more: {<<: 5}',
      [
        "6:10 error invalid_yaml << puts the members of other maps here: its value must be a map, such as *name of an anchor &name; write '<<', in quotes, if it is a key",
      ],
    ],
  ])('%s', (_, right, wrong, expected) => {
    expect(diagnosticsOf(withMistake(right, wrong))).toEqual(expected)
  })
})
