// The page about what app code imports, from the doc comments of the sources. Declarations are read as they are written:
// nothing is checked or run.
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

/**
 * One entry for each export of a module, in its order, values before types.
 * @param root folder that holds `src`
 * @param module its file below `root`, such as src/app.ts
 */
export function codeEntries(root, module) {
  const found = exportsOf(join(root, module)).map(({ name, file }) => ({ name, ...declarationOf(file, name) }));
  const silent = found.filter(({ doc }) => doc === '').map(({ name, file }) => `${relative(root, file)}: ${name}`);
  if (silent.length > 0) throw new Error(`write a doc comment above ${silent.join(', ')}`);
  const isType = ({ node }) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
  return [...found.filter((each) => !isType(each)), ...found.filter(isType)].map(entry);
}

/** The names that a module gives, with the file in which each is declared or given on. */
function exportsOf(file) {
  return parsed(file).statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const from = statement.moduleSpecifier ? sourceOf(file, statement.moduleSpecifier.text) : file;
      return statement.exportClause.elements.map(({ name }) => ({ name: name.text, file: from }));
    }
    return isExported(statement) ? namesOf(statement).map((name) => ({ name, file })) : [];
  });
}

/** Where a name that a file knows is declared, behind whatever gives it on. */
function declarationOf(file, name) {
  const source = parsed(file);
  for (const node of source.statements) {
    if (namesOf(node).includes(name)) return { file, source, node, doc: docOf(node, source) };
    const { moduleSpecifier } = node;
    const listed = node.exportClause ?? node.importClause?.namedBindings;
    if (moduleSpecifier && listed?.elements?.some((each) => each.name.text === name)) {
      return declarationOf(sourceOf(file, moduleSpecifier.text), name);
    }
  }
  throw new Error(`${file} knows no ${name}`);
}

const known = new Map();

function parsed(file) {
  if (!known.has(file)) {
    known.set(file, ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
  }
  return known.get(file);
}

const sourceOf = (file, specifier) => join(dirname(file), specifier.replace(/\.js$/, '.ts'));

function namesOf(statement) {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name.text);
  return statement.name ? [statement.name.text] : [];
}

const modifiersOf = (node) => (node.modifiers ?? []).map(({ kind }) => kind);
const isExported = (node) => modifiersOf(node).includes(ts.SyntaxKind.ExportKeyword);

/** A declaration as the page shows it. */
function entry({ name, node, source, doc, file }) {
  const lines = [`### ${name}`, '', doc];
  const heading = headingOf(node, source);
  if (heading !== '') lines.push('', heading);
  const members = membersOf({ node, source, file });
  if (members.length > 0) lines.push('', ...members.map((member) => `- \`${member.text}\`${said(member.doc)}`));
  return lines.join('\n');
}

const said = (doc) => (doc === '' ? '' : `\\\n  ${doc.replaceAll('\n', '\n  ')}`);

/** What stands below its name, where it has no members. */
function headingOf(node, source) {
  if (ts.isVariableStatement(node)) {
    const [{ name, type }] = node.declarationList.declarations;
    return type ? `\`${name.text}: ${flat(type, source)}\`` : '';
  }
  if (ts.isTypeAliasDeclaration(node))
    return `\`${node.name.text}${parameters(node, source)} = ${flat(node.type, source)}\``;
  return ts.isFunctionDeclaration(node) ? `\`${signature(node, source)}\`` : '';
}

/** Those of whatever it extends or implements, where the comments are, and its own. */
function membersOf({ node, source, file }) {
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) {
    const clauses = [...(node.heritageClauses ?? [])].sort((a, b) => b.token - a.token);
    const bases = clauses.flatMap(({ types }) => types.map((type) => inherited(type, file)));
    return [...bases, shown(node.members, source)].reduce(withOthers, []);
  }
  if (!ts.isVariableStatement(node)) return [];
  const [{ initializer, type }] = node.declarationList.declarations;
  if (type) return [];
  if (ts.isObjectLiteralExpression(initializer)) return shown(initializer.properties, source);
  return membersOf(declarationOf(file, initializer.expression.text));
}

/** Of `Base`, or of `Omit<Base, 'name'>`. */
function inherited({ expression, typeArguments = [] }, file) {
  if (expression.text !== 'Omit') return membersOf(declarationOf(file, expression.text));
  const [base, left] = typeArguments;
  const names = (ts.isUnionTypeNode(left) ? left.types : [left]).map(({ literal }) => literal.text);
  return membersOf(declarationOf(file, base.typeName.text)).filter(({ name }) => !names.includes(name));
}

function withOthers(members, more) {
  const names = new Set(members.map(({ name }) => name));
  return [...members, ...more.filter(({ name }) => !names.has(name))];
}

function shown(members, source) {
  return members.filter(isPublic).map((member) => ({
    name: member.name?.text,
    text: signature(member, source),
    doc: docOf(member, source),
  }));
}

function isPublic(member, index, members) {
  // of an overloaded method the last is for the compiler alone
  if (member.body && members.some((each, i) => i < index && each.name?.text === member.name?.text && !each.body))
    return false;
  const hidden = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword];
  if (modifiersOf(member).some((kind) => hidden.includes(kind))) return false;
  return !ts.isConstructorDeclaration(member) && member.name?.kind !== ts.SyntaxKind.PrivateIdentifier;
}

/** Its text without body, value and modifiers. */
function signature(node, source) {
  if (ts.isConstructSignatureDeclaration(node)) return flat(node, source).replace(/;$/, '');
  const name = node.name.getText(source);
  const mark = node.questionToken ? '?' : '';
  const type = node.type ? `: ${flat(node.type, source)}` : '';
  if (!node.parameters || ts.isGetAccessorDeclaration(node)) return `${name}${mark}${type}`;
  const given = node.parameters.map((each) => flat(each, source)).join(', ');
  return `${name}${mark}${parameters(node, source)}(${given})${type}`;
}

function parameters(node, source) {
  return node.typeParameters ? `<${node.typeParameters.map((each) => flat(each, source)).join(', ')}>` : '';
}

/** A part of the source on one line. */
function flat(node, source) {
  return node
    .getText(source)
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replace(/^\| /, '');
}

/** The words of the comment above, as Markdown; a parameter's become an item of a list. */
function docOf(node, source) {
  const [range] = (ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? [])
    .filter(({ pos }) => source.text.startsWith('/**', pos))
    .slice(-1);
  if (range === undefined) return '';
  return source.text
    .slice(range.pos + 3, range.end - 2)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
    .replace(/ ?@param (\w+) /g, '\n- `$1`: ');
}
