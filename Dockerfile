# The service alone: docker run --stop-timeout 60 -p 8686:8686 -v graphstead-data:/data -e GRAPHSTEAD_API_KEYS=... graphstead
# docs/guides/deployment.md says how an app is added.

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci
COPY bin bin
COPY src src
COPY scripts scripts
COPY explorer explorer
COPY tsconfig.json tsconfig.package.json ./
# the declarations too: `graphstead build` in the image checks an app's types by them
RUN npm run build && npx tsc -p tsconfig.package.json && npm prune --omit=dev

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /graphstead
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY bin bin
COPY templates templates
COPY LICENSE README.md ./
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 8686 9080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8686/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/graphstead/bin/graphstead.js"]
# Reachable from outside of the container, so it needs GRAPHSTEAD_API_KEYS and does not start without.
CMD ["start", "--data", "/data", "--host", "0.0.0.0"]
