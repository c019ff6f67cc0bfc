#!/usr/bin/env bash
# Creates the secrets of production.yml in the folder `secrets`, once. An existing folder stays as it is.
set -euo pipefail
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "the folder secrets exists already" >&2
  exit 1
fi
random() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }

# Complete or not there at all.
folder="$(mktemp -d ./.secrets.XXXXXX)"
trap 'rm -rf "$folder"' EXIT
put() { printf '%s' "$2" >"$folder/$1"; }

password="$(random 24)"
put postgres_password "$password"
put database_url "postgres://retrieval:$password@postgres/retrieval"
put redis_url "redis://redis:6379"

meilisearch_key="$(random 24)"
put meilisearch_key "$meilisearch_key"
put meilisearch.env "MEILI_MASTER_KEY=$meilisearch_key"

# Garage requires keys of this form.
s3_key="GK$(random 12)" s3_secret="$(random 32)"
put s3_access_key_id "$s3_key"
put s3_secret_access_key "$s3_secret"
put garage.env "GARAGE_RPC_SECRET=$(random 32)
GARAGE_DEFAULT_ACCESS_KEY=$s3_key
GARAGE_DEFAULT_SECRET_KEY=$s3_secret
GARAGE_DEFAULT_BUCKET=workspace"

# Compose mounts the files as they are, and users inside of the containers read them: the folder protects them.
chmod 644 "$folder"/*
chmod 700 "$folder"
mv "$folder" secrets
trap - EXIT
echo "created the folder secrets"
