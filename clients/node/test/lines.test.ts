import { expect, test } from 'vitest';

import { LineReader, LineTooLong, Tail } from '../src/lines.js';

function read(reader: LineReader, ...pieces: (string | Buffer)[]): string[] {
  return pieces.flatMap((piece) => [...reader.read(Buffer.from(piece as string))].map((line) => line.toString()));
}

test('lines come whole, however they are cut', () => {
  const text = 'one\n\nthree 日本\nfour';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const reader = new LineReader(100);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    expect(read(reader, ...pieces)).toEqual(['one', '', 'three 日本']);
    expect(read(reader, '\n')).toEqual(['four']);
  }
});

test('a line of the greatest length passes, in one piece or in many', () => {
  expect(read(new LineReader(4), 'abcd\n')).toEqual(['abcd']);
  expect(read(new LineReader(4), 'a', 'b', 'cd', '\n', 'efgh\n')).toEqual(['abcd', 'efgh']);
});

test('a line that is too long is refused before its end has come', () => {
  expect(() => read(new LineReader(4), 'abcde')).toThrow(LineTooLong);
  expect(() => read(new LineReader(4), 'ab', 'cd', 'e')).toThrow(LineTooLong);
  expect(() => read(new LineReader(4), 'abcde\n')).toThrow(LineTooLong);
});

test('what comes before a line that is too long is read', () => {
  const lines: string[] = [];
  expect(() => {
    for (const line of new LineReader(4).read(Buffer.from('ab\nabcde'))) lines.push(line.toString());
  }).toThrow(LineTooLong);
  expect(lines).toEqual(['ab']);
});

test('a line stays as it was when the next one is read', () => {
  const reader = new LineReader(100);
  [...reader.read(Buffer.from('fir'))];
  const [first] = [...reader.read(Buffer.from('st\nsec'))];
  [...reader.read(Buffer.from('ond\n'))];
  expect(first?.toString()).toBe('first');
});

test('a tail keeps the last bytes, and no half of a character', () => {
  const tail = new Tail(8);
  tail.add(Buffer.from('short'));
  expect(tail.text()).toBe('short');
  tail.add(Buffer.from(' and then 日本語'));
  expect(tail.text()).toBe('本語');
  tail.add(Buffer.from('12345678'));
  expect(tail.text()).toBe('12345678');
});
