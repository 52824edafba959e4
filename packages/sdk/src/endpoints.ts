/** The requests of a client: types from the contract only. */
import type { CallOf, ReplyOf } from "@holdfast/contract/endpoint";
import type { ENDPOINTS } from "@holdfast/contract/endpoints";
import type { EndpointName } from "@holdfast/contract/routes";

type All = typeof ENDPOINTS;
type StreamName = { [N in EndpointName]: All[N]["reply"] extends string ? N : never }[EndpointName];

/** Every endpoint that answers with JSON, by its name: what it is called with, and what it answers. */
export type Endpoints = { [N in Exclude<EndpointName, StreamName>]: { call: CallOf<All[N]>; reply: ReplyOf<All[N]> } };

/** Those that answer with a stream, and what they are called with. */
export type Streams = { [N in StreamName]: CallOf<All[N]> };
