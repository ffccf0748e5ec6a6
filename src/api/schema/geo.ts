import {
  type GraphQLInputType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql';
import { type FieldMeaning, means } from './meaning.js';
import { GraphQLFloat } from './scalar.js';
import { table } from '../../base/index.js';

type GeoField = Extract<FieldMeaning, { op: 'geo' }>['field'];

const required = (type: GraphQLOutputType): GraphQLOutputType => new GraphQLNonNull(type as never);
const listOf = (type: GraphQLOutputType): GraphQLOutputType => required(new GraphQLList(required(type)));
const requiredInput = (type: GraphQLInputType): GraphQLInputType => new GraphQLNonNull(type as never);
const listOfInput = (type: GraphQLInputType): GraphQLInputType => requiredInput(new GraphQLList(requiredInput(type)));

const output = (field: GeoField, type: GraphQLOutputType) => ({
  [field]: { type, extensions: means({ op: 'geo', field }) },
});

const Point = new GraphQLObjectType({
  name: 'Point',
  fields: {
    ...output('longitude', required(GraphQLFloat)),
    ...output('latitude', required(GraphQLFloat)),
  },
  extensions: means({ of: 'geo', name: 'Point' }),
});
const PointList = new GraphQLObjectType({ name: 'PointList', fields: output('points', listOf(Point)) });
const Polygon = new GraphQLObjectType({
  name: 'Polygon',
  fields: output('coordinates', listOf(PointList)),
  extensions: means({ of: 'geo', name: 'Polygon' }),
});
const MultiPolygon = new GraphQLObjectType({
  name: 'MultiPolygon',
  fields: output('polygons', listOf(Polygon)),
  extensions: means({ of: 'geo', name: 'MultiPolygon' }),
});

const input = (name: string, fields: Readonly<Record<string, GraphQLInputType>>): GraphQLInputObjectType =>
  new GraphQLInputObjectType({
    name,
    fields: Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, { type }])),
  });

const PointRef = input('PointRef', {
  longitude: requiredInput(GraphQLFloat),
  latitude: requiredInput(GraphQLFloat),
});
const PointListRef = input('PointListRef', { points: listOfInput(PointRef) });
const PolygonRef = input('PolygonRef', { coordinates: listOfInput(PointListRef) });
const MultiPolygonRef = input('MultiPolygonRef', { polygons: listOfInput(PolygonRef) });

/** `near`: within `distance` metres of a point. */
export const nearFilter = input('NearFilter', {
  distance: requiredInput(GraphQLFloat),
  coordinate: requiredInput(PointRef),
});
export const withinFilter = input('WithinFilter', { polygon: requiredInput(PolygonRef) });
export const containsFilter = input('ContainsFilter', { point: PointRef, polygon: PolygonRef });
export const intersectsFilter = input('IntersectsFilter', { polygon: PolygonRef, multiPolygon: MultiPolygonRef });

/** Geo values as they are answered. */
export const GEO_TYPES = table<GraphQLObjectType>({ Point, PointList, Polygon, MultiPolygon });

/** Geo values as they are given, by the name of their input. */
export const GEO_INPUTS = table<GraphQLInputObjectType>({
  PointRef,
  PointListRef,
  PolygonRef,
  MultiPolygonRef,
});
