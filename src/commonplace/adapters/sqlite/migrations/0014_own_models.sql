-- The model whose vectors a user has; null: the one that `meta` names, as nearly everybody's.
alter table partitions add column own_model any;
create index partitions_own_model on partitions (tenant) where own_model is not null;
