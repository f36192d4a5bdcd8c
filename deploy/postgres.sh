#!/bin/sh
# Run once, by the container of PostgreSQL, when its folder is new. The service comes by an ordinary role: its superuser
# would not be held back by the wall between tenants.
set -eu
export PASSWORD="$POSTGRES_PASSWORD"
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username postgres --dbname postgres <<'SQL'
\getenv password PASSWORD
create role commonplace login password :'password';
create database commonplace owner commonplace encoding 'UTF8' template template0;
\connect commonplace
create extension vector;
SQL
