import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';
import { expect, test } from 'vitest';

interface Definition {
  properties?: Record<string, unknown>;
  oneOf?: { const?: string }[];
  enum?: string[];
}

function definitions(schema: string): Record<string, Definition> {
  const path = fileURLToPath(new URL(`../../../docs/schema/${schema}`, import.meta.url));
  return JSON.parse(readFileSync(path, 'utf8')).$defs;
}

/** Definitions of the schemas that are a frame around a type of their own. */
const FRAMES = /(Request|Response)$/;

const DEFINITIONS = Object.entries({
  ...definitions('evidence-request-1.json'),
  ...definitions('evidence-response-1.json'),
}).filter(([name]) => !FRAMES.test(name));

const SOURCE = ts.createSourceFile(
  'protocol.ts',
  readFileSync(new URL('../src/protocol.ts', import.meta.url), 'utf8'),
  ts.ScriptTarget.Latest,
);

/** The keys of an interface, or the words of a union, as the source has them. */
function declared(name: string): string[] | undefined {
  for (const statement of SOURCE.statements) {
    if (ts.isInterfaceDeclaration(statement) && statement.name.text === name) {
      return statement.members.map((member) => member.name?.getText(SOURCE) ?? '');
    }
    if (ts.isTypeAliasDeclaration(statement) && statement.name.text === name && ts.isUnionTypeNode(statement.type)) {
      return statement.type.types
        .filter((type) => ts.isLiteralTypeNode(type))
        .map((type) => JSON.parse(type.getText(SOURCE).replaceAll("'", '"')));
    }
  }
  return undefined;
}

test('the schemas were found', () => {
  expect(DEFINITIONS.length).toBeGreaterThan(15);
});

test.each(DEFINITIONS)('the type %s says what the schema says', (name, definition) => {
  const keys = definition.properties && Object.keys(definition.properties);
  const words = definition.enum ?? definition.oneOf?.map((word) => word.const);
  expect(declared(name)?.sort()).toEqual((keys ?? words)?.sort());
});
