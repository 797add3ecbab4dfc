// node client.cjs ADDRESS PROTO: calls a protected service and prints what it sees, one line of
// JSON per call. The packages are found through NODE_PATH.
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');

const [address, proto] = process.argv.slice(2);
const loaded = grpc.loadPackageDefinition(loader.loadSync(proto, { longs: Number }));
const types = protobuf.loadSync(proto);
const stub = new loaded.semel.test.Payments(address, grpc.credentials.createInsecure(),
  { 'grpc.enable_http_proxy': 0 });

// The details as any client reads them: google.rpc.Status in the trailing metadata.
function detailsIn(metadata) {
  const found = {};
  const [bytes] = metadata.get('grpc-status-details-bin');
  if (!bytes) return found;
  const status = types.lookupType('semel.test.StatusDetails').decode(bytes);
  for (const { typeUrl, value } of status.details) {
    const name = typeUrl.replace('type.googleapis.com/google.rpc.', '');
    found[name] = types.lookupType('semel.test.' + name).decode(value).toJSON();
  }
  return found;
}

function charge(key, amount) {
  return new Promise((resolve) => {
    const metadata = new grpc.Metadata();
    if (key) metadata.set('idempotency-key', key);
    const seen = {};
    const deadline = Date.now() + 60000;
    const call = stub.Charge({ card: '4242', amount }, metadata, { deadline }, (error, reply) => {
      seen.code = error ? error.code : 0;
      if (error) seen.details = detailsIn(error.metadata);
      if (reply) seen.id = reply.id;
      if (seen.status) resolve(seen);
      seen.done = true;
    });
    call.on('status', (status) => {
      seen.status = true;
      seen.replayed = status.metadata.get('idempotent-replayed')[0] === 'true';
      if (seen.done) resolve(seen);
    });
  });
}

async function main() {
  const calls = [['node-1', 100], ['node-1', 100], ['node-1', 200], ['', 100]];
  for (const [key, amount] of calls) {
    const { code, id = '', replayed, details = {} } = await charge(key, amount);
    console.log(JSON.stringify({ code, id, replayed, details }));
  }
  stub.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
